// SPDX-License-Identifier: Apache-2.0
//
// File: copy.h
//
// The two sides of a copy (storage/copy.h) in SQLite. Each locks its data
// folder.
#ifndef FROSTLINE_STORAGE_SQLITE_COPY_H_
#define FROSTLINE_STORAGE_SQLITE_COPY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/copy.h"

namespace frostline::storage {

// Opens the database of a data folder; only the folder's lock is written. The
// error is REQUEST_INVALID when there is no database, STORE_LOCKED when a
// coordinator runs there, STORE_VERSION when the database is not of this
// version, STORE_CORRUPT when it is damaged.
absl::StatusOr<std::unique_ptr<CopySource>> OpenSqliteToCopy(
    const std::string& data_folder);

// Begins a database in a data folder, which is created if it is missing. It is
// written beside its place and renamed by Commit(), so a killed copy leaves
// none; the next one removes what it wrote. The error is STORE_LOCKED when a
// coordinator runs there, STORE_UNWRITABLE when a database is there already, or
// the log of one.
absl::StatusOr<std::unique_ptr<CopyTarget>> BeginSqliteCopy(
    const std::string& data_folder);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_COPY_H_
