// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/check.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/sql.h"
#include "storage/sqlite/sqlite_error.h"

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

// An older database lacks what came later.
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
  // Earlier summaries are thrown away, and counted anew.
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

// The second check also compares tables with their indexes, and the seals show
// a changed key: either would hide a row from those who ask for it.
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

}  // namespace frostline::storage
