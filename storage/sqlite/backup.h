// SPDX-License-Identifier: Apache-2.0
//
// File: backup.h
//
// A copy of a live database as one file that needs nothing beside it.
#ifndef FROSTLINE_STORAGE_SQLITE_BACKUP_H_
#define FROSTLINE_STORAGE_SQLITE_BACKUP_H_

#include <string>

#include "absl/status/statusor.h"
#include "storage/sqlite/database.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// As TrialStore::Backup() promises; durable when OK. STORE_UNWRITABLE,
// STORE_FULL, STORE_CORRUPT; then no copy is left.
absl::StatusOr<BackupReport> BackUp(Database& source, const std::string& path);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_BACKUP_H_
