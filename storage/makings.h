// SPDX-License-Identifier: Apache-2.0
//
// File: makings.h
#ifndef FROSTLINE_STORAGE_MAKINGS_H_
#define FROSTLINE_STORAGE_MAKINGS_H_

#include <cstdint>
#include <string>

namespace frostline::storage {

// Of the library that this program has found, "3.40.1".
std::string SqliteVersion();

// How tables are laid out in every store on a disk that is open.
std::int32_t SchemaVersion();

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_MAKINGS_H_
