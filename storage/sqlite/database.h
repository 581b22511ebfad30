// SPDX-License-Identifier: Apache-2.0
//
// File: database.h
//
// A connection has our settings (docs/adr/0005-sqlite-settings.md) and caches
// prepared statements. The one writer alone checkpoints the write-ahead log;
// readers cannot write.
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
#include "base/clock.h"
#include "storage/sqlite/statement.h"

struct sqlite3;
struct sqlite3_stmt;

namespace frostline::storage {

// It is not thread-safe.
class Database {
 public:
  enum class Role {
    kWriter,
    kReader,
    kStill,  // of an unchanging file; makes nothing beside
  };

  // The file must exist; an empty one is a new database.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path,
                                                        Role role);
  ~Database();  // REQUIRES: no Statement is alive
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  absl::StatusOr<Statement> Prepare(std::string_view sql);
  // Runs statements without parameters, and drops their rows.
  absl::Status Execute(const std::string& sql);
  // Returns the first column of the first row; without one it is 0 or empty.
  absl::StatusOr<std::int64_t> ReadInt(const std::string& sql);
  absl::StatusOr<std::string> ReadText(const std::string& sql);

  // What runs longer than this from now on ends with STORE_BUSY.
  void EndAfter(Duration limit);
  void NeverEnd();

  // It is false after SQLite itself rolled back, as it may on a full disk.
  bool InTransaction() const;
  std::int64_t LastKey() const;

  // Counts the log's pages after the last commit.
  int wal_pages() const { return wal_pages_; }
  // Moves what no reader needs in the log to the database; it waits for nobody.
  // The answer says whether that was all of it.
  absl::StatusOr<bool> Checkpoint();
  // Moves all of it, and begins the log anew. A start needs this: what a
  // process that saw a sync fail left in the log may not be on the disk,
  // although the kernel shows it.
  absl::Status EmptyLog();
  // Recovery is for the next start, not for a process that saw the disk fail.
  void LeaveLogAtEnd();

  sqlite3* handle() { return handle_; }

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}
  absl::Status Configure(Role role);
  absl::Status Verify(const std::string& pragma, const std::string& expected);
  absl::StatusOr<bool> MoveLog(int mode);

  sqlite3* handle_;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
  int wal_pages_ = 0;
  SteadyTime end_{};
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_DATABASE_H_
