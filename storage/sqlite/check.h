// SPDX-License-Identifier: Apache-2.0
//
// File: check.h
#ifndef FROSTLINE_STORAGE_SQLITE_CHECK_H_
#define FROSTLINE_STORAGE_SQLITE_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/sqlite/database.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// Answers STORE_CORRUPT when damage is found. It soon stops looking, so that a
// large database does not delay the start; every read checks seals anyway.
absl::Status QuickCheck(Database& database);

// Checks every page, index, reference and seal of a file that nobody changes;
// STORE_CORRUPT names what is damaged. REQUIRES: it is ours (ReadVersion()).
absl::StatusOr<BackupReport> CheckWhole(const std::string& path);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_CHECK_H_
