// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/backup.h"

#include <sqlite3.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/schema.h"

namespace frostline::storage {
namespace {

constexpr Duration kCheckTime = std::chrono::milliseconds(100);
constexpr std::int64_t kFirstVersionWithLogs = 2;
constexpr std::int64_t kFirstVersionWithLead = 3;
constexpr std::int64_t kFirstVersionWithSummaries = 4;
constexpr std::int64_t kFirstVersionWithRequestIds = 5;
constexpr std::int64_t kFirstVersionWithLogPlaces = 6;
constexpr std::int64_t kFirstVersionWithTokens = 7;
constexpr std::int64_t kFirstVersionWithCosts = 8;
constexpr std::int64_t kFirstVersionWithEvaluations = 9;
constexpr std::int64_t kFirstVersionWithNotifications = 10;

template <typename Row>
absl::StatusOr<std::int64_t> CountIntact(
    Database& database, const std::string& all = sql::kAll<Row>) {
  ASSIGN_OR_RETURN(Statement statement, database.Prepare(all));
  for (std::int64_t rows = 0;; ++rows) {
    ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return rows;
    RETURN_IF_ERROR(ReadRow<Row>(statement).status());
  }
}

// Reads every row. An older database lacks the tables that came later.
absl::StatusOr<BackupReport> CheckRows(Database& database) {
  ASSIGN_OR_RETURN(const std::int64_t version,
                   database.ReadInt("PRAGMA user_version"));
  std::string studies = sql::kAll<StudyRow>;
  if (version < kFirstVersionWithTokens) {
    studies = absl::StrReplaceAll(studies, {{"owner", "''"}});
  }
  std::string attempts = sql::kAll<AttemptRow>;
  if (version < kFirstVersionWithRequestIds) {
    attempts = absl::StrReplaceAll(attempts, {{"request_id", "''"}});
  }
  std::string logs = sql::kAll<LogRow>;
  if (version < kFirstVersionWithLogPlaces) {
    logs = absl::StrReplaceAll(logs, {{"place", "x''"}});
  }
  std::string outcomes = sql::kAll<OutcomeRow>;
  if (version < kFirstVersionWithEvaluations) {
    outcomes = absl::StrReplaceAll(outcomes, {{"evaluations", "x''"}});
  }
  BackupReport report;
  if (version == 0) return report;  // a new one
  ASSIGN_OR_RETURN(report.studies, CountIntact<StudyRow>(database, studies));
  ASSIGN_OR_RETURN(report.trials, CountIntact<TrialRow>(database));
  for (const absl::Status& status :
       {CountIntact<AttemptRow>(database, attempts).status(),
        CountIntact<MeasurementRow>(database).status(),
        CountIntact<OutcomeRow>(database, outcomes).status(),
        CountIntact<WorkerRow>(database).status(),
        CountIntact<ReplyRow>(database).status()}) {
    RETURN_IF_ERROR(status);
  }
  if (version >= kFirstVersionWithLogs) {
    RETURN_IF_ERROR(CountIntact<LogRow>(database, logs).status());
  }
  if (version >= kFirstVersionWithLead) {
    RETURN_IF_ERROR(CountIntact<LeadRow>(database).status());
  }
  if (version >= kFirstVersionWithSummaries) {
    RETURN_IF_ERROR(CountIntact<BestRow>(database).status());
  }
  // Earlier summaries are dropped, and counted again.
  if (version >= kFirstVersionWithCosts) {
    RETURN_IF_ERROR(CountIntact<SummaryRow>(database).status());
  }
  if (version >= kFirstVersionWithTokens) {
    RETURN_IF_ERROR(CountIntact<TokenRow>(database).status());
    RETURN_IF_ERROR(CountIntact<CertificateRow>(database).status());
    RETURN_IF_ERROR(CountIntact<AuditRow>(database).status());
  }
  if (version >= kFirstVersionWithNotifications) {
    RETURN_IF_ERROR(CountIntact<NotificationRow>(database).status());
  }
  return report;
}

// Looks for damage. The second check also compares tables with their indexes,
// and the seals show a changed key: both kinds of damage would hide a row from
// queries.
absl::Status FindDamage(Database& database) {
  for (const char* const check : {"quick_check", "integrity_check"}) {
    const absl::StatusOr<std::string> found =
        database.ReadText(absl::StrCat("PRAGMA ", check, "(1)"));
    RETURN_IF_ERROR(found.status());
    if (*found != "ok") return StoreCorrupt(absl::StrCat(check, ": ", *found));
  }
  return CheckRows(database).status();
}

}  // namespace

absl::Status QuickCheck(Database& database) {
  database.EndAfter(kCheckTime);
  const absl::Status status = FindDamage(database);
  database.NeverEnd();
  const bool out_of_time = HasErrorId(status, ErrorId::kStoreBusy);
  return out_of_time ? absl::OkStatus() : status;
}

absl::StatusOr<BackupReport> CheckWhole(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   Database::Open(path, Database::Role::kStill));
  ASSIGN_OR_RETURN(const std::string found,
                   database->ReadText("PRAGMA integrity_check(1)"));
  if (found != "ok") {
    return StoreCorrupt(absl::StrCat("integrity_check of ", path, ": ", found));
  }
  ASSIGN_OR_RETURN(const std::string orphan,
                   database->ReadText("PRAGMA foreign_key_check"));
  if (!orphan.empty()) {
    return StoreCorrupt(
        absl::StrCat(path, ": a row of ", orphan, " belongs to nothing"));
  }
  ASSIGN_OR_RETURN(BackupReport report, CheckRows(*database));
  std::error_code ignored;  // it has just been read
  report.path = path;
  report.bytes =
      static_cast<std::int64_t>(std::filesystem::file_size(path, ignored));
  return report;
}

namespace {

namespace fs = std::filesystem;

// The end of an unfinished copy's name. No backup may have such a name, since
// it would begin with a dot.
constexpr char kPartial[] = ".partial";

bool IsPartialCopy(const std::string& name) {
  std::string_view copy = name;
  for (const std::string_view companion : {"-journal", "-wal", "-shm"}) {
    if (copy.ends_with(companion)) copy.remove_suffix(companion.size());
  }
  return copy.starts_with('.') && copy.ends_with(kPartial);
}

// Removes what killed backups left, whatever they were called. The store makes
// one backup at a time, so none of them is being made.
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
  // Copies all at once: in steps, every commit in between would start it again.
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

namespace {

// Files that SQLite keeps beside a database and would make part of it.
constexpr const char* kCompanions[] = {"-wal", "-shm", "-journal"};

absl::Status Refuse(ErrorId id, const std::string& cause,
                    const std::string& fix) {
  return MakeError(id, cause, fix);
}

bool IsThere(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at fails when it is opened
  return fs::exists(fs::symlink_status(path, ignored));
}

}  // namespace

std::string CompanionOf(const std::string& path) {
  for (const char* const suffix : kCompanions) {
    if (IsThere(path + suffix)) return path + suffix;
  }
  return "";
}

namespace {

// Says whether the header says that a log belongs to the file (offsets 18 and
// 19 of SQLite's file format).
bool NeedsALog(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char header[20] = {};
  file.read(header, sizeof(header));
  return file && (header[18] == 2 || header[19] == 2);
}

// Checks the source. A copy of a live database lacks what is still in its log.
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
