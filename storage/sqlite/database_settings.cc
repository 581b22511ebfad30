// SPDX-License-Identifier: Apache-2.0
//
// How every connection is set. Why each: docs/adr/0005-sqlite-settings.md.
#include <sqlite3.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "storage/sqlite/database.h"

namespace frostline::storage {
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
// To a database that has tables it means nothing, and would write all the same.
constexpr char kNewDatabaseSetting[] = "PRAGMA auto_vacuum = INCREMENTAL";
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
  if (role != Role::kWriter) {
    LeaveLogAtEnd();
    RETURN_IF_ERROR(Execute(kReaderSettings));
    return Verify("query_only", "1");
  }
  ASSIGN_OR_RETURN(const std::int64_t pages, ReadInt("PRAGMA page_count"));
  if (pages == 0) RETURN_IF_ERROR(Execute(kNewDatabaseSetting));
  RETURN_IF_ERROR(Execute(kWriterSettings));
  sqlite3_wal_hook(handle_, RememberPages, &wal_pages_);
  // A pragma that cannot be set says nothing; durability hangs on these.
  RETURN_IF_ERROR(Verify("journal_mode", "wal"));
  RETURN_IF_ERROR(Verify("synchronous", "2"));
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

}  // namespace frostline::storage
