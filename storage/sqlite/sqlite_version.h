// SPDX-License-Identifier: Apache-2.0
//
// File: sqlite_version.h
#ifndef FROSTLINE_STORAGE_SQLITE_SQLITE_VERSION_H_
#define FROSTLINE_STORAGE_SQLITE_SQLITE_VERSION_H_

#include <string>

namespace frostline::storage {

// Of the library that was found at the start, "3.40.1".
std::string LinkedSqliteVersion();

// Says whether `version` (3040001 is 3.40.1) can lose commits when one
// connection writes while another moves the log. Ours does both on one
// connection.
constexpr bool HasWalResetFlaw(int version) {
  const bool backported = (version >= 3'044'006 && version < 3'045'000) ||
                          (version >= 3'050'007 && version < 3'051'000);
  return version >= 3'007'000 && version < 3'051'003 && !backported;
}

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_SQLITE_VERSION_H_
