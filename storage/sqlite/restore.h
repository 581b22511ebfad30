// SPDX-License-Identifier: Apache-2.0
//
// File: restore.h
#ifndef FROSTLINE_STORAGE_SQLITE_RESTORE_H_
#define FROSTLINE_STORAGE_SQLITE_RESTORE_H_

#include <string>

#include "absl/status/statusor.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// Makes a checked copy of `backup_file` the database of a data folder, at one
// moment, so that a killed restore can be begun again. It creates the folder,
// and never replaces a database that holds anything. It answers STORE_LOCKED
// when a coordinator runs there, STORE_UNWRITABLE when a database or the log of
// one is there, or no such backup, STORE_VERSION when the file is no backup, or
// of a newer Frostline, STORE_CORRUPT when it is damaged.
absl::StatusOr<BackupReport> RestoreBackup(const std::string& backup_file,
                                           const std::string& data_folder);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_RESTORE_H_
