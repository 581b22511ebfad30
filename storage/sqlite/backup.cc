// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/backup.h"

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/status_macros.h"
#include "storage/sqlite/check.h"
#include "storage/sqlite/files.h"
#include "storage/sqlite/sqlite_error.h"

namespace frostline::storage {
namespace {

absl::Status CopyPages(sqlite3* from, sqlite3* to) {
  sqlite3_backup* const backup = sqlite3_backup_init(to, "main", from, "main");
  if (backup == nullptr) {
    return SqliteError(to, sqlite3_extended_errcode(to), "begin a backup");
  }
  // All at once: in steps it would start again with every commit between them.
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  return code == SQLITE_OK ? absl::OkStatus()
                           : SqliteError(to, code, "copy the database");
}

absl::Status WriteCopy(Database& source, const std::string& path) {
  RETURN_IF_ERROR(CreateFile(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> copy,
                   Database::Open(path, Database::Role::kReader));
  RETURN_IF_ERROR(copy->Execute("PRAGMA query_only = OFF"));
  RETURN_IF_ERROR(CopyPages(source.handle(), copy->handle()));
  // A database in WAL mode is up to three files.
  return copy->Execute("PRAGMA journal_mode = DELETE");
}

absl::StatusOr<BackupReport> CopyAndCheck(Database& source,
                                          const std::string& path) {
  RETURN_IF_ERROR(WriteCopy(source, path));
  FROSTLINE_FAILPOINT(kBackupCopied);
  RETURN_IF_ERROR(SyncFile(path));
  ASSIGN_OR_RETURN(BackupReport report, CheckWhole(path));
  FROSTLINE_FAILPOINT(kBackupChecked);
  return report;
}

}  // namespace

absl::StatusOr<BackupReport> BackUp(Database& source, const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    return MakeError(ErrorId::kStoreUnwritable,
                     absl::StrCat(path, " exists already"),
                     "give the backup a name of its own");
  }
  // No backup may be called so: its name would begin with a dot.
  const std::filesystem::path place(path);
  const std::string partial =
      place.parent_path() /
      absl::StrCat(".", place.filename().string(), ".partial");
  std::filesystem::remove(partial, error);  // of a backup that was killed
  absl::StatusOr<BackupReport> report = CopyAndCheck(source, partial);
  absl::Status status = report.status();
  if (status.ok()) status = RenameFile(partial, path);
  if (!status.ok()) {
    std::filesystem::remove(partial, error);
    return status;
  }
  FROSTLINE_FAILPOINT(kBackupDone);
  report->path = path;
  return report;
}

}  // namespace frostline::storage
