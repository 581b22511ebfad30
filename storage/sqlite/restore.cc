// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/restore.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/status_macros.h"
#include "storage/sqlite/check.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/files.h"
#include "storage/sqlite/schema.h"

namespace frostline::storage {
namespace {

namespace fs = std::filesystem;

// What SQLite keeps beside a database and would make part of it.
constexpr const char* kCompanions[] = {"-wal", "-shm", "-journal"};

absl::Status Refuse(ErrorId id, const std::string& cause,
                    const std::string& fix) {
  return MakeError(id, cause, fix);
}

bool IsThere(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at fails when it is opened
  return fs::exists(fs::symlink_status(path, ignored));
}

// The name of what lies beside the database; empty when it lies alone.
std::string CompanionOf(const std::string& path) {
  for (const char* const suffix : kCompanions) {
    if (IsThere(path + suffix)) return path + suffix;
  }
  return "";
}

// Whether the header says that a log belongs to the file (offsets 18 and 19 of
// SQLite's file format).
bool NeedsALog(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char header[20] = {};
  file.read(header, sizeof(header));
  return file && (header[18] == 2 || header[19] == 2);
}

// A copy of a live database lacks what is still in its log.
absl::Status CheckSource(const std::string& backup_file) {
  std::error_code error;
  if (!fs::is_regular_file(backup_file, error)) {
    return Refuse(ErrorId::kRequestInvalid,
                  absl::StrCat("there is no file ", backup_file),
                  "name a file that a backup has made");
  }
  const std::string companion = CompanionOf(backup_file);
  if (!companion.empty() || NeedsALog(backup_file)) {
    return Refuse(ErrorId::kStoreVersion,
                  absl::StrCat(backup_file,
                               " is a live database or was copied from one, "
                               "not a backup"),
                  "start a coordinator on a copy of that data folder, and take "
                  "a backup there");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> HoldsNothing(const std::string& path) {
  std::error_code error;
  if (fs::file_size(path, error) == 0 && !error) return true;
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   Database::Open(path, Database::Role::kStill));
  ASSIGN_OR_RETURN(const std::int64_t version,
                   ReadVersion(*database, path, SchemaSteps()));
  if (version == 0) return true;
  ASSIGN_OR_RETURN(const std::int64_t rows,
                   database->ReadInt("SELECT (SELECT count(*) FROM studies) + "
                                     "(SELECT count(*) FROM workers)"));
  return rows == 0;
}

absl::Status CheckPlace(const std::string& path) {
  const std::string companion = CompanionOf(path);
  const std::string fix =
      "move the database and everything named like it out of the data folder, "
      "or give another folder";
  if (!companion.empty()) {
    return Refuse(ErrorId::kStoreUnwritable,
                  absl::StrCat(companion, " belongs to another database"), fix);
  }
  if (!IsThere(path)) return absl::OkStatus();
  const absl::StatusOr<bool> nothing = HoldsNothing(path);
  if (nothing.ok() && *nothing) return absl::OkStatus();
  return Refuse(ErrorId::kStoreUnwritable,
                absl::StrCat(path, " is there already"), fix);
}

absl::StatusOr<BackupReport> CopyAndCheckRestored(const std::string& from,
                                                  const std::string& to) {
  std::error_code error;
  RETURN_IF_ERROR(CreateFile(to));
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) {
    errno = error.value();
    return FileError(absl::StrCat("copy ", from, " to ", to));
  }
  fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, error);
  RETURN_IF_ERROR(SyncFile(to));
  FROSTLINE_FAILPOINT(kRestoreCopied);
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<Database> copy,
                     Database::Open(to, Database::Role::kStill));
    ASSIGN_OR_RETURN(const std::int64_t version,
                     ReadVersion(*copy, from, SchemaSteps()));
    if (version == 0) {
      return Refuse(ErrorId::kStoreVersion,
                    absl::StrCat(from, " is an empty database"),
                    "name a file that a backup has made");
    }
  }
  ASSIGN_OR_RETURN(BackupReport report, CheckWhole(to));
  FROSTLINE_FAILPOINT(kRestoreBefore);
  return report;
}

}  // namespace

absl::StatusOr<BackupReport> RestoreBackup(const std::string& backup_file,
                                           const std::string& data_folder) {
  RETURN_IF_ERROR(CheckSource(backup_file));
  ASSIGN_OR_RETURN(const std::unique_ptr<DataFolder> folder,
                   DataFolder::Lock(data_folder));
  const std::string path = folder->DatabasePath();
  RETURN_IF_ERROR(CheckPlace(path));
  const std::string partial = path + ".partial";
  std::error_code ignored;  // of a restore that was killed
  fs::remove(partial, ignored);
  absl::StatusOr<BackupReport> report =
      CopyAndCheckRestored(backup_file, partial);
  absl::Status status = report.status();
  if (status.ok()) status = RenameFile(partial, path);
  if (!status.ok()) {
    fs::remove(partial, ignored);
    return status;
  }
  FROSTLINE_FAILPOINT(kRestoreAfter);
  report->path = path;
  return report;
}

}  // namespace frostline::storage
