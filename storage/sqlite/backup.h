// SPDX-License-Identifier: Apache-2.0
//
// File: backup.h
//
// The copy of a live database is one file that needs nothing beside it.
#ifndef FROSTLINE_STORAGE_SQLITE_BACKUP_H_
#define FROSTLINE_STORAGE_SQLITE_BACKUP_H_

#include <string>

#include "absl/status/statusor.h"
#include "storage/sqlite/database.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// Does what TrialStore::Backup() promises; the copy is durable when OK. After
// STORE_UNWRITABLE, STORE_FULL or STORE_CORRUPT no copy is left. What killed
// backups left in its folder is removed. One at a time.
absl::StatusOr<BackupReport> BackUp(Database& source, const std::string& path);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_BACKUP_H_
