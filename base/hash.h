// SPDX-License-Identifier: Apache-2.0
//
// File: hash.h
//
// FNV-1a of 64 bits (Fowler, Noll and Vo) is the same on every machine and in
// every version, so it may be stored.
#ifndef FROSTLINE_BASE_HASH_H_
#define FROSTLINE_BASE_HASH_H_

#include <cstdint>
#include <string_view>

namespace frostline {

std::uint64_t Fnv1a(std::string_view bytes);

}  // namespace frostline

#endif  // FROSTLINE_BASE_HASH_H_
