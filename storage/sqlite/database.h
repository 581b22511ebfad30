// SPDX-License-Identifier: Apache-2.0
//
// File: database.h
//
// A connection to SQLite with our settings (docs/adr/0005-sqlite-settings.md)
// and a cache of prepared statements. Only the one writer moves the write-ahead
// log to the database; readers cannot write.
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

// What a failed call was writing: a transaction writes to the log, a checkpoint
// to the database.
enum class Target { kLog, kDatabase };

// Returns the error of the last call on `handle`; never OK. `code` is the
// extended code of that call, `doing` says what failed.
absl::Status SqliteError(sqlite3* handle, int code, const std::string& doing,
                         Target target = Target::kLog);

// A prepared statement in use. When the use ends, it is reset in its Database's
// cache. Not thread-safe.
//
//   ASSIGN_OR_RETURN(Statement statement, database.Prepare(kFindTrial));
//   statement.Int(study);
//   ASSIGN_OR_RETURN(const bool found, statement.Step());
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)),
        code_(other.code_),
        bound_(other.bound_) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // These bind the next parameter. A failure shows in Step().
  void Int(std::int64_t value);
  void Text(const std::string& value);
  void Blob(const std::string& value);

  // Moves to the next row; false when there are no more.
  absl::StatusOr<bool> Step();
  // Runs a statement that has no rows.
  absl::Status Run();
  // Returns SQLite's extended result of the last call.
  int code() const { return code_; }
  // Returns how many rows Run() has changed.
  std::int64_t changes() const;

  // These read columns of the current row, counted from 0.
  std::int64_t IntAt(int column) const;
  std::string BytesAt(int column) const;  // for TEXT and BLOB

 private:
  void Bound(int code);

  sqlite3_stmt* statement_;
  int code_ = 0;
  int bound_ = 0;
};

// A connection to a database. Not thread-safe.
class Database {
 public:
  // What a connection is for.
  enum class Role {
    kWriter,
    kEphemeralWriter,  // waits for no disk: its database ends with the process
    kReader,
    kStill,  // for a file that does not change; makes no other files
  };

  // Opens the file, which must exist; an empty one is a new database.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path,
                                                        Role role);
  ~Database();  // REQUIRES: no Statement is alive
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  absl::StatusOr<Statement> Prepare(std::string_view sql);
  // Runs statements without parameters and drops their rows.
  absl::Status Execute(const std::string& sql);
  // Returns the first column of the first row; 0 or empty if there is no row.
  absl::StatusOr<std::int64_t> ReadInt(const std::string& sql);
  absl::StatusOr<std::string> ReadText(const std::string& sql);

  // Ends with STORE_BUSY whatever runs longer than this from now on.
  void EndAfter(Duration limit);
  void NeverEnd();

  // Becomes false when SQLite itself has rolled back, as it may on a full disk.
  bool InTransaction() const;
  std::int64_t LastKey() const;

  // Returns how many pages the log had after the last commit.
  int wal_pages() const { return wal_pages_; }
  // Moves from the log to the database what no reader needs in the log, and
  // waits for nobody. Returns whether that was all of the log.
  absl::StatusOr<bool> Checkpoint();
  // Moves the whole log and begins it again. A start needs this: when a process
  // saw a sync fail, what it left in the log may not be on the disk although
  // the kernel shows it.
  absl::Status EmptyLog();
  // Leaves the log alone when the connection closes. A process that saw the
  // disk fail must not recover from it; the next start does.
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

// Returns the version of the library that was found at the start: "3.40.1".
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
