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
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"

struct sqlite3;
struct sqlite3_stmt;

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

//   ASSIGN_OR_RETURN(Statement statement, database.Prepare(kFindTrial));
//   statement.Int(study);
//   ASSIGN_OR_RETURN(const bool found, statement.Step());
//
// The end of a use resets it in its Database's cache. It is not thread-safe.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)),
        code_(other.code_),
        bound_(other.bound_) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Each binds the next parameter. A failure shows in Step().
  void Int(std::int64_t value);
  void Text(const std::string& value);
  void Blob(const std::string& value);

  // Answers false when there are no more rows.
  absl::StatusOr<bool> Step();
  // Serves statements without rows.
  absl::Status Run();
  // Is SQLite's extended result of the last call.
  int code() const { return code_; }
  // Counts the rows changed by Run().
  std::int64_t changes() const;

  // Columns of the current row count from 0.
  std::int64_t IntAt(int column) const;
  std::string BytesAt(int column) const;  // of TEXT and BLOB

 private:
  void Bound(int code);

  sqlite3_stmt* statement_;
  int code_ = 0;
  int bound_ = 0;
};

// It is not thread-safe.
class Database {
 public:
  enum class Role {
    kWriter,
    kEphemeralWriter,  // waits for no disk: its database ends with the process
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

// Of the library that was found at the start, "3.40.1".
std::string LinkedSqliteVersion();

// Says whether `version` (3040001 is 3.40.1) can lose commits when one
// connection writes while another moves the log. Ours does both on one
// connection.
constexpr bool HasWalResetFlaw(int version) {
  const bool backported = (version >= 3'044'006 && version < 3'045'000) ||
                          (version >= 3'050'007 && version < 3'051'000);
  return version >= 3'007'000 && version < 3'051'003 && !backported;
}

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_DATABASE_H_
