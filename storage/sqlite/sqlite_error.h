// SPDX-License-Identifier: Apache-2.0
//
// File: sqlite_error.h
#ifndef FROSTLINE_STORAGE_SQLITE_SQLITE_ERROR_H_
#define FROSTLINE_STORAGE_SQLITE_SQLITE_ERROR_H_

#include <string>

#include "absl/status/status.h"

struct sqlite3;

namespace frostline::storage {

// A transaction writes to the log, a checkpoint to the database.
enum class Target { kLog, kDatabase };

// `code` is the extended one of the last call on `handle`; `doing` says what
// failed. It is never OK.
absl::Status SqliteError(sqlite3* handle, int code, const std::string& doing,
                         Target target = Target::kLog);

absl::Status StoreFull(const std::string& cause);
absl::Status StoreCorrupt(const std::string& cause);
absl::Status StoreIo(const std::string& cause);

// The store itself failed, not the request: the transaction is lost.
bool IsStoreFailure(const absl::Status& status);
// Nobody can know what is on disk.
bool IsFatal(const absl::Status& status);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_SQLITE_ERROR_H_
