// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/database.h"

#include <sqlite3.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/status_macros.h"
#include "storage/sqlite/sqlite_error.h"

namespace frostline::storage {
namespace {

constexpr int kInstructionsBetweenLooks = 1000;

// A file name as SQLite wants it where it may be followed by options.
std::string StillName(const std::string& path) {
  std::string name = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      absl::StrAppend(&name, "%", absl::Hex(c, absl::kZeroPad2));
    } else {
      name.push_back(c);
    }
  }
  return name + "?immutable=1";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, Role role) {
  sqlite3* handle = nullptr;
  const bool still = role == Role::kStill;
  const int code = sqlite3_open_v2(
      (still ? StillName(path) : path).c_str(), &handle,
      SQLITE_OPEN_NOMUTEX | (still ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                   : SQLITE_OPEN_READWRITE),
      nullptr);
  if (handle == nullptr) return StoreIo("no memory for a connection");
  std::unique_ptr<Database> database(new Database(handle));
  if (code != SQLITE_OK) {
    return SqliteError(handle, code, absl::StrCat("open ", path));
  }
  const absl::Status configured = database->Configure(role);
  // Our own text is right: SQLite cannot read what it finds.
  if (HasErrorId(configured, ErrorId::kInternal)) {
    return StoreCorrupt(std::string(configured.message()));
  }
  RETURN_IF_ERROR(configured);
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

absl::StatusOr<Statement> Database::Prepare(std::string_view sql) {
  const auto cached = statements_.find(sql);
  if (cached != statements_.end()) return Statement(cached->second);
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  // Our own text does not compile: the tables are not those we made.
  if (code == SQLITE_ERROR) {
    return StoreCorrupt(absl::StrCat("schema: ", sqlite3_errmsg(handle_)));
  }
  if (code != SQLITE_OK) return SqliteError(handle_, code, std::string(sql));
  statements_.emplace(sql, statement);
  return Statement(statement);
}

absl::Status Database::Execute(const std::string& sql) {
  const int code =
      sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : SqliteError(handle_, code, sql);
}

absl::StatusOr<std::int64_t> Database::ReadInt(const std::string& sql) {
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? statement.IntAt(0) : 0;
}

absl::StatusOr<std::string> Database::ReadText(const std::string& sql) {
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? statement.BytesAt(0) : std::string();
}

void Database::EndAfter(Duration limit) {
  end_ = SystemClock().Steady() + limit;
  sqlite3_progress_handler(
      handle_, kInstructionsBetweenLooks,
      [](void* end) {
        const SteadyTime now = SystemClock().Steady();
        return now > *static_cast<const SteadyTime*>(end) ? 1 : 0;
      },
      &end_);
}

void Database::NeverEnd() {
  sqlite3_progress_handler(handle_, 0, nullptr, nullptr);
}

void Database::LeaveLogAtEnd() {
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

bool Database::InTransaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

std::int64_t Database::LastKey() const {
  return sqlite3_last_insert_rowid(handle_);
}

absl::StatusOr<bool> Database::Checkpoint() {
  return MoveLog(SQLITE_CHECKPOINT_PASSIVE);
}

absl::Status Database::EmptyLog() {
  return MoveLog(SQLITE_CHECKPOINT_TRUNCATE).status();
}

absl::StatusOr<bool> Database::MoveLog(int mode) {
  FROSTLINE_FAILPOINT(kCheckpointBefore);
  int pages = 0, moved = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, mode, &pages, &moved);
  FROSTLINE_FAILPOINT(kCheckpointAfter);
  if (code == SQLITE_OK) return moved == pages;
  return SqliteError(handle_, code, "checkpoint", Target::kDatabase);
}

}  // namespace frostline::storage
