// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/database.h"

#include <sqlite3.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "storage/sqlite/sqlite_error.h"

namespace frostline {
namespace {

// Nobody else writes, so only a foreign program can make us wait at all.
constexpr std::chrono::milliseconds kBusyTimeout(5000);
constexpr int kLongestValue = 64 << 20;
constexpr int kLongestSql = 1 << 16;

// Why each: docs/adr/0005-sqlite-settings.md.
constexpr char kCommonSettings[] =
    "PRAGMA foreign_keys = ON;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA mmap_size = 0;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA wal_autocheckpoint = 0;";
constexpr char kWriterSettings[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA secure_delete = OFF;"
    "PRAGMA journal_size_limit = 67108864;"
    "PRAGMA cache_size = -16384;";
constexpr char kReaderSettings[] =
    "PRAGMA query_only = ON;"
    "PRAGMA cache_size = -2048;";

int RememberPages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, Role role) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (handle == nullptr) return StoreIo("no memory for a connection");
  std::unique_ptr<Database> database(new Database(handle));
  if (code != SQLITE_OK) {
    return SqliteError(handle, code, absl::StrCat("open ", path));
  }
  RETURN_IF_ERROR(database->Configure(role));
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

absl::Status Database::Configure(Role role) {
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, static_cast<int>(kBusyTimeout.count()));
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(handle_, SQLITE_LIMIT_SQL_LENGTH, kLongestSql);
  sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
  RETURN_IF_ERROR(Execute(kCommonSettings));
  if (role == Role::kReader) {
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return Execute(kReaderSettings);
  }
  RETURN_IF_ERROR(Execute(kWriterSettings));
  sqlite3_wal_hook(handle_, RememberPages, &wal_pages_);
  // A pragma that cannot be set says nothing; durability hangs on these.
  RETURN_IF_ERROR(Verify("journal_mode", "wal"));
  RETURN_IF_ERROR(Verify("synchronous", "2"));
  return Verify("foreign_keys", "1");
}

absl::Status Database::Verify(const std::string& pragma,
                              const std::string& expected) {
  ASSIGN_OR_RETURN(const std::string value,
                   ReadText(absl::StrCat("PRAGMA ", pragma)));
  if (value == expected) return absl::OkStatus();
  return MakeError(ErrorId::kStoreFileSystem,
                   absl::StrCat("SQLite keeps ", pragma, " at ", value,
                                " instead of ", expected),
                   "put the data folder on a local disk");
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

bool Database::InTransaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

std::int64_t Database::LastKey() const {
  return sqlite3_last_insert_rowid(handle_);
}

absl::Status Database::Checkpoint() {
  const int code = sqlite3_wal_checkpoint_v2(
      handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK) return absl::OkStatus();
  return SqliteError(handle_, code, "checkpoint", Target::kDatabase);
}

}  // namespace frostline
