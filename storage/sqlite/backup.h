// SPDX-License-Identifier: Apache-2.0
//
// File: backup.h
//
// Backups: checks a copy of a database, makes one of a live database, and makes
// one the database again.
#ifndef FROSTLINE_STORAGE_SQLITE_BACKUP_H_
#define FROSTLINE_STORAGE_SQLITE_BACKUP_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/sqlite/database.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// Looks for damage, but not for long, so that a large database does not delay
// the start; every read checks the seals in any case. The error is
// STORE_CORRUPT.
absl::Status QuickCheck(Database& database);

// Checks every page, index, reference and seal of a file that nobody changes.
// The error is STORE_CORRUPT and names what is damaged. REQUIRES: the file is
// ours (ReadVersion()).
absl::StatusOr<BackupReport> CheckWhole(const std::string& path);

// Returns the name of a file beside the database that SQLite would make part of
// it, a log or a journal; empty when there is none.
std::string CompanionOf(const std::string& path);

// Copies a live database into one file that needs no other file beside it, as
// TrialStore::Backup() promises. When the result is OK the copy is durable.
// After STORE_UNWRITABLE, STORE_FULL or STORE_CORRUPT no copy is left. It
// removes what killed backups left in that folder. One backup at a time.
absl::StatusOr<BackupReport> BackUp(Database& source, const std::string& path);

// Makes a checked copy of `backup_file` the database of a data folder, in one
// step, so that a killed restore can simply be started again. It creates the
// folder, and never replaces a database that holds anything. The error is
// STORE_LOCKED when a coordinator runs there; STORE_UNWRITABLE when there is a
// database, the log of one, or no such backup; STORE_VERSION when the file is
// no backup, or one of a newer Frostline; STORE_CORRUPT when it is damaged.
absl::StatusOr<BackupReport> RestoreBackup(const std::string& backup_file,
                                           const std::string& data_folder);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_BACKUP_H_
