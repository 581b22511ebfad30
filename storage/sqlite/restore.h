// SPDX-License-Identifier: Apache-2.0
//
// File: restore.h
//
// The way back from a backup.
#ifndef FROSTLINE_STORAGE_SQLITE_RESTORE_H_
#define FROSTLINE_STORAGE_SQLITE_RESTORE_H_

#include <string>

#include "absl/status/statusor.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// Makes `backup_file` the database of a data folder, which is created where it
// is missing. The copy is checked whole before it takes its place, and takes it
// at one moment: a restore that is killed can be begun again. The backup is
// only read. No database that holds anything is ever replaced.
// STORE_LOCKED: a coordinator runs there. STORE_UNWRITABLE: a database is
// there already, or the log of one, or there is no such backup. STORE_VERSION:
// the file is no backup, or of a newer Frostline. STORE_CORRUPT: it is damaged.
absl::StatusOr<BackupReport> RestoreBackup(const std::string& backup_file,
                                           const std::string& data_folder);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_RESTORE_H_
