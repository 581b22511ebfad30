// SPDX-License-Identifier: Apache-2.0
//
// File: check.h
//
// Whether a database is whole: at the start as far as time allows, and to the
// last row where nobody waits.
#ifndef FROSTLINE_STORAGE_SQLITE_CHECK_H_
#define FROSTLINE_STORAGE_SQLITE_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/sqlite/database.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// STORE_CORRUPT when SQLite finds the file damaged. Stops looking after a short
// time, so that a large database does not delay the start: rows carry their own
// checksums, and a backup is checked whole.
absl::Status QuickCheck(Database& database);

// Every page, every index, every reference and the seal of every row of a file
// that nobody changes. STORE_CORRUPT names what is damaged, STORE_VERSION
// what is not ours.
absl::StatusOr<BackupReport> CheckWhole(const std::string& path);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_CHECK_H_
