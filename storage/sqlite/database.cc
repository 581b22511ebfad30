// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/database.h"

#include <sqlite3.h>

#include <cerrno>
#include <chrono>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"

namespace frostline::storage {
namespace {

// Returns why the last write to the file failed. errno and
// sqlite3_system_errno() are useless here: more has happened since.
int WriteErrno(sqlite3* handle, Target target) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(handle, "main",
                       target == Target::kLog ? SQLITE_FCNTL_JOURNAL_POINTER
                                              : SQLITE_FCNTL_FILE_POINTER,
                       &file);
  int error = 0;
  if (file != nullptr && file->pMethods != nullptr) {
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  return error;
}

// Says whether a write found no room, because of any limit; SQLite itself says
// this for ENOSPC only. A failed sync never counts as such.
bool IsNoRoom(sqlite3* handle, int code, Target target) {
  if (code == SQLITE_FULL) return true;
  if (code == SQLITE_IOERR_SHMSIZE) {
    const int error = sqlite3_system_errno(handle);
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
  }
  if (code != SQLITE_IOERR_WRITE) return false;
  int error = WriteErrno(handle, target);
  // The journal of a database that is being made is closed again by now.
  if (error == 0) error = sqlite3_system_errno(handle);
  return error == EDQUOT || error == EFBIG;
}

}  // namespace

absl::Status SqliteError(sqlite3* handle, int code, const std::string& doing,
                         Target target) {
  const std::string cause =
      absl::StrCat(doing, ": ", sqlite3_errmsg(handle), " (SQLite ", code, ")");
  if (IsNoRoom(handle, code, target)) return StoreFull(cause);
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return StoreCorrupt(cause);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return MakeError(ErrorId::kStoreBusy, cause,
                       "close other programs that have the database open");
    case SQLITE_INTERRUPT:
      return MakeError(ErrorId::kStoreBusy, cause,
                       "ask for fewer rows at once, or try again when less is "
                       "going on");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return MakeError(ErrorId::kStoreUnwritable, cause,
                       "correct owner and mode of the data folder");
    case SQLITE_TOOBIG:
      return MakeError(ErrorId::kFieldTooLarge, cause,
                       "send less in one field");
    case SQLITE_CONSTRAINT:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_ERROR:
      return MakeError(ErrorId::kInternal, cause,
                       "this is a bug in Frostline: report it with the "
                       "coordinator's log");
    default:
      return StoreIo(cause);
  }
}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);  // repeats an error that Step() has told
  sqlite3_clear_bindings(statement_);
}

void Statement::Bound(int code) {
  ++bound_;
  if (code_ == SQLITE_OK) code_ = code;
}

void Statement::Int(std::int64_t value) {
  Bound(sqlite3_bind_int64(statement_, bound_ + 1, value));
}

void Statement::Text(const std::string& value) {
  Bound(sqlite3_bind_text64(statement_, bound_ + 1, value.data(), value.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::Blob(const std::string& value) {
  Bound(sqlite3_bind_blob64(statement_, bound_ + 1, value.data(), value.size(),
                            SQLITE_TRANSIENT));
}

absl::StatusOr<bool> Statement::Step() {
  const bool bound = code_ == SQLITE_OK || code_ == SQLITE_ROW;
  if (bound) code_ = sqlite3_step(statement_);
  if (code_ == SQLITE_ROW) return true;
  if (code_ == SQLITE_DONE) return false;
  return SqliteError(sqlite3_db_handle(statement_), code_,
                     sqlite3_sql(statement_));
}

absl::Status Statement::Run() {
  ASSIGN_OR_RETURN(const bool row, Step());
  static_cast<void>(row);
  return absl::OkStatus();
}

std::int64_t Statement::changes() const {
  return sqlite3_changes64(sqlite3_db_handle(statement_));
}

std::int64_t Statement::IntAt(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::BytesAt(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (bytes == nullptr) return "";  // of an empty value, too
  return std::string(static_cast<const char*>(bytes),
                     static_cast<std::size_t>(size));
}

namespace {

constexpr int kInstructionsBetweenLooks = 1000;

// Returns a file name as SQLite wants it when options may follow.
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
  // Our own text is correct, so SQLite cannot read the file.
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
  // Our own text does not compile, so the tables are not ours.
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

// How every connection is set. The reasons: docs/adr/0005-sqlite-settings.md.

namespace {

// Nobody else writes, so only a foreign program can make us wait at all.
constexpr std::chrono::milliseconds kBusyTimeout(5000);
constexpr int kLongestValue = 64 << 20;
constexpr int kLongestSql = 1 << 16;

constexpr char kCommonSettings[] =
    "PRAGMA foreign_keys = ON;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA mmap_size = 0;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA wal_autocheckpoint = 0;";
// If the database has tables this has no effect, but would write all the same.
constexpr char kNewDatabaseSetting[] = "PRAGMA auto_vacuum = INCREMENTAL";
constexpr char kWriterSettings[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA secure_delete = OFF;"
    "PRAGMA journal_size_limit = 67108864;"
    "PRAGMA cache_size = -16384;";
constexpr char kSynced[] = "PRAGMA synchronous = FULL;";
constexpr char kUnsynced[] = "PRAGMA synchronous = OFF;";
constexpr char kReaderSettings[] =
    "PRAGMA query_only = ON;"
    "PRAGMA cache_size = -2048;";

int RememberPages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

}  // namespace

absl::Status Database::Configure(Role role) {
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, static_cast<int>(kBusyTimeout.count()));
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(handle_, SQLITE_LIMIT_SQL_LENGTH, kLongestSql);
  sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
  RETURN_IF_ERROR(Execute(kCommonSettings));
  RETURN_IF_ERROR(Verify("foreign_keys", "1"));
  const bool is_ephemeral = role == Role::kEphemeralWriter;
  if (role != Role::kWriter && !is_ephemeral) {
    LeaveLogAtEnd();
    RETURN_IF_ERROR(Execute(kReaderSettings));
    return Verify("query_only", "1");
  }
  // This comes before everything that writes: making a database would sync it
  // eight times.
  RETURN_IF_ERROR(Execute(is_ephemeral ? kUnsynced : kSynced));
  ASSIGN_OR_RETURN(const std::int64_t pages, ReadInt("PRAGMA page_count"));
  if (pages == 0) RETURN_IF_ERROR(Execute(kNewDatabaseSetting));
  RETURN_IF_ERROR(Execute(kWriterSettings));
  sqlite3_wal_hook(handle_, RememberPages, &wal_pages_);
  // A pragma that cannot be set gives no error; durability depends on these.
  RETURN_IF_ERROR(Verify("journal_mode", "wal"));
  RETURN_IF_ERROR(Verify("synchronous", is_ephemeral ? "0" : "2"));
  return Verify("wal_autocheckpoint", "0");
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

std::string LinkedSqliteVersion() { return sqlite3_libversion(); }

}  // namespace frostline::storage
