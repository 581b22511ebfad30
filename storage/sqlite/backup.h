// SPDX-License-Identifier: Apache-2.0
//
// File: backup.h
//
// A copy of a live database as one file that needs nothing beside it.
#ifndef FROSTLINE_STORAGE_SQLITE_BACKUP_H_
#define FROSTLINE_STORAGE_SQLITE_BACKUP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "storage/sqlite/database.h"

namespace frostline {

struct BackupReport {
  std::string path;
  std::int64_t bytes = 0;
  std::int64_t studies = 0;
  std::int64_t trials = 0;
};

// Copies what is committed at one moment to `path`, which must not exist,
// checks the copy whole and makes it durable; half a copy is never at `path`.
// Writers of other connections go on meanwhile. STORE_UNWRITABLE, STORE_FULL,
// STORE_CORRUPT (then no copy is left).
absl::StatusOr<BackupReport> BackUp(Database& source, const std::string& path);

}  // namespace frostline

#endif  // FROSTLINE_STORAGE_SQLITE_BACKUP_H_
