// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/backup.h"

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/status_macros.h"
#include "storage/sqlite/check.h"
#include "storage/sqlite/files.h"
#include "storage/sqlite/sqlite_error.h"

namespace frostline::storage {
namespace {

namespace fs = std::filesystem;

// No backup may be called so: its name would begin with a dot.
constexpr char kPartial[] = ".partial";

bool IsPartialCopy(const std::string& name) {
  std::string_view copy = name;
  for (const std::string_view companion : {"-journal", "-wal", "-shm"}) {
    if (copy.ends_with(companion)) copy.remove_suffix(companion.size());
  }
  return copy.starts_with('.') && copy.ends_with(kPartial);
}

// What backups left that were killed, whatever they were called. The store
// makes one at a time, so that none of them is being made.
void RemovePartialCopies(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (IsPartialCopy(path.filename().string())) left.push_back(path);
  }
  for (const fs::path& path : left) fs::remove(path, error);
}

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
  if (fs::exists(path, error)) {
    return MakeError(ErrorId::kStoreUnwritable,
                     absl::StrCat(path, " exists already"),
                     "give the backup a name of its own");
  }
  const fs::path place(path);
  const std::string partial =
      place.parent_path() /
      absl::StrCat(".", place.filename().string(), kPartial);
  RemovePartialCopies(place.has_parent_path() ? place.parent_path() : ".");
  absl::StatusOr<BackupReport> report = CopyAndCheck(source, partial);
  absl::Status status = report.status();
  if (status.ok()) status = RenameFile(partial, path);
  if (!status.ok()) {
    fs::remove(partial, error);
    return status;
  }
  FROSTLINE_FAILPOINT(kBackupDone);
  report->path = path;
  return report;
}

}  // namespace frostline::storage
