// SPDX-License-Identifier: Apache-2.0
//
// File: database.h
//
// One connection to a database file, with our settings (docs/adr/0005) and a
// cache of prepared statements. There is one writer, which alone checkpoints
// the write-ahead log, and there are readers, which cannot write.
#ifndef FROSTLINE_STORAGE_SQLITE_DATABASE_H_
#define FROSTLINE_STORAGE_SQLITE_DATABASE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/sqlite/statement.h"

struct sqlite3;
struct sqlite3_stmt;

namespace frostline {

// Not thread-safe: one thread at a time.
class Database {
 public:
  enum class Role { kWriter, kReader };

  // The file must exist; an empty one is a new database.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path,
                                                        Role role);
  ~Database();  // REQUIRES: no Statement is alive
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // From the cache, or prepared now and kept.
  absl::StatusOr<Statement> Prepare(std::string_view sql);
  // One or several statements, without parameters, rows dropped, not cached.
  absl::Status Execute(const std::string& sql);
  // The first column of the first row of a statement without parameters.
  absl::StatusOr<std::int64_t> ReadInt(const std::string& sql);
  absl::StatusOr<std::string> ReadText(const std::string& sql);

  // False after SQLite itself rolled back, as it may on a full disk.
  bool InTransaction() const;
  std::int64_t LastKey() const;

  // Pages in the write-ahead log after the last commit.
  int wal_pages() const { return wal_pages_; }
  // Moves what no reader needs in the log to the database file; waits for
  // nobody.
  absl::Status Checkpoint();

  sqlite3* handle() { return handle_; }

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}
  absl::Status Configure(Role role);
  absl::Status Verify(const std::string& pragma, const std::string& expected);

  sqlite3* handle_;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
  int wal_pages_ = 0;
};

}  // namespace frostline

#endif  // FROSTLINE_STORAGE_SQLITE_DATABASE_H_
