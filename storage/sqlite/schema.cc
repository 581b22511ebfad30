// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/schema.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "storage/sqlite/backup.h"

namespace frostline::storage {
namespace {

absl::Status WrongVersion(const std::string& cause) {
  return MakeError(ErrorId::kStoreVersion, cause,
                   "use the Frostline that wrote it, or a newer one");
}

absl::Status TakeStep(Database& database, const std::string& step,
                      std::int64_t version) {
  absl::Status status = database.Execute(absl::StrCat(
      "BEGIN IMMEDIATE;", step, "PRAGMA application_id = ", kApplicationId,
      ";PRAGMA user_version = ", version, ";"));
  FROSTLINE_FAILPOINT(kMigrateStep);
  if (status.ok()) status = database.Execute("COMMIT");
  if (!status.ok() && database.InTransaction()) {
    database.Execute("ROLLBACK").IgnoreError();  // the first error is the cause
  }
  return status;
}

}  // namespace

absl::StatusOr<std::int64_t> ReadVersion(
    Database& database, const std::string& path,
    const std::vector<std::string>& steps) {
  ASSIGN_OR_RETURN(const std::int64_t version,
                   database.ReadInt("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const std::int64_t application,
                   database.ReadInt("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const std::int64_t tables,
                   database.ReadInt("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0 && version == 0) return 0;
  if (application != kApplicationId) {
    return WrongVersion(absl::StrCat(path, " is no database of Frostline"));
  }
  const auto newest = static_cast<std::int64_t>(steps.size());
  if (version < 1 || version > newest) {
    return WrongVersion(absl::StrCat(path, " has version ", version,
                                     ", this program knows ", newest));
  }
  return version;
}

absl::Status Migrate(Database& database, const std::string& path,
                     const std::vector<std::string>& steps) {
  ASSIGN_OR_RETURN(const std::int64_t version,
                   ReadVersion(database, path, steps));
  const auto newest = static_cast<std::int64_t>(steps.size());
  if (version > 0 && version < newest) {
    const std::string copy = absl::StrCat(path, ".v", version);
    std::error_code ignored;  // one may be left by a step that was killed
    std::filesystem::remove(copy, ignored);
    RETURN_IF_ERROR(BackUp(database, copy).status());
    FROSTLINE_FAILPOINT(kMigrateBefore);
  }
  for (std::int64_t from = version; from < newest; ++from) {
    RETURN_IF_ERROR(
        TakeStep(database, steps[static_cast<std::size_t>(from)], from + 1));
    FROSTLINE_FAILPOINT(kMigrateAfter);
  }
  return absl::OkStatus();
}

namespace {

// The tables of version 1. Messages, and numbers that must keep every bit, are
// BLOBs (row_columns.h). The crc columns are the seals of row_codec.h. Trials
// and studies have two seals, because an update does not know their first
// columns, which never change.
constexpr char kFirstSchema[] = R"sql(
CREATE TABLE studies (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  spec BLOB NOT NULL,
  seed INTEGER NOT NULL,
  created INTEGER NOT NULL,
  fixed_crc INTEGER NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 5),
  settings BLOB NOT NULL,
  etag INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  state_reason TEXT NOT NULL,
  crc INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX studies_by_id ON studies (id) WHERE state <> 5;

CREATE TABLE trials (
  study INTEGER NOT NULL REFERENCES studies (key),
  number INTEGER NOT NULL CHECK (number >= 0),
  origin INTEGER NOT NULL CHECK (origin BETWEEN 1 AND 4),
  point BLOB NOT NULL,
  created INTEGER NOT NULL,
  fixed_crc INTEGER NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 7),
  attempt INTEGER NOT NULL,
  secret BLOB NOT NULL,
  worker TEXT NOT NULL,
  trial_faults INTEGER NOT NULL,
  infrastructure_faults INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  metrics BLOB NOT NULL,
  objective_values BLOB NOT NULL,
  failure INTEGER NOT NULL CHECK (failure BETWEEN 0 AND 3),
  cause TEXT NOT NULL,
  usage BLOB NOT NULL,
  labels BLOB NOT NULL,
  seen_revision INTEGER NOT NULL,
  ended_revision INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (study, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX trials_by_revision ON trials (study, revision, number);
CREATE INDEX trials_by_state ON trials (study, state, number);

CREATE TABLE attempts (
  study INTEGER NOT NULL,
  number INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 8),
  secret BLOB NOT NULL,
  worker TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  failure INTEGER NOT NULL CHECK (failure BETWEEN 0 AND 3),
  cause TEXT NOT NULL,
  checkpoint BLOB NOT NULL,
  outcome BLOB NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (study, number, attempt),
  FOREIGN KEY (study, number) REFERENCES trials (study, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE measurements (
  study INTEGER NOT NULL,
  number INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  step INTEGER NOT NULL,
  measured BLOB NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (study, number, attempt, step),
  FOREIGN KEY (study, number) REFERENCES trials (study, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE outcomes (
  study INTEGER NOT NULL,
  number INTEGER NOT NULL,
  data_fingerprint TEXT NOT NULL,
  encoding INTEGER NOT NULL,
  count INTEGER NOT NULL,
  data BLOB NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (study, number),
  FOREIGN KEY (study, number) REFERENCES trials (study, number)
) STRICT;

CREATE TABLE workers (
  id TEXT NOT NULL PRIMARY KEY,
  boot_id TEXT NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 4),
  info BLOB NOT NULL,
  failures_in_a_row INTEGER NOT NULL,
  registered INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  crc INTEGER NOT NULL
) STRICT;

CREATE TABLE replies (
  request_id TEXT NOT NULL PRIMARY KEY,
  method TEXT NOT NULL,
  request_hash INTEGER NOT NULL,
  reply BLOB NOT NULL,
  created INTEGER NOT NULL,
  crc INTEGER NOT NULL
) STRICT;
CREATE INDEX replies_by_created ON replies (created);
)sql";

constexpr char kLogs[] = R"sql(
CREATE TABLE logs (
  study INTEGER NOT NULL,
  number INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  tail BLOB NOT NULL,
  written INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (study, number, attempt),
  FOREIGN KEY (study, number) REFERENCES trials (study, number)
) STRICT;
)sql";

// At most one row: who has led. No row: nobody has.
constexpr char kLead[] = R"sql(
CREATE TABLE lead (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  epoch INTEGER NOT NULL CHECK (epoch > 0),
  crc INTEGER NOT NULL
) STRICT;
)sql";

// The coordinator counts what was there before, once, and writes it.
constexpr char kSummaries[] = R"sql(
CREATE TABLE summaries (
  study INTEGER PRIMARY KEY REFERENCES studies (key),
  succeeded INTEGER NOT NULL,
  pruned INTEGER NOT NULL,
  infeasible INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  budget_used INTEGER NOT NULL,
  train_us INTEGER NOT NULL,
  next_number INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  crc INTEGER NOT NULL
) STRICT;
CREATE TABLE best_trials (
  study INTEGER NOT NULL,
  number INTEGER NOT NULL,
  objective_values BLOB NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (study, number),
  FOREIGN KEY (study, number) REFERENCES trials (study, number)
) STRICT, WITHOUT ROWID;
)sql";

// Attempts from before this step have an empty id, which their seals leave out.
constexpr char kRequestIds[] = R"sql(
ALTER TABLE attempts ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
CREATE INDEX attempts_by_request ON attempts (request_id)
  WHERE request_id <> '';
)sql";

// Logs from before this step have no place, which their seals leave out.
constexpr char kLogPlaces[] = R"sql(
ALTER TABLE logs ADD COLUMN place BLOB NOT NULL DEFAULT x'';
)sql";

// Studies from before this step have no owner, which their seals leave out.
constexpr char kTokens[] = R"sql(
ALTER TABLE studies ADD COLUMN owner TEXT NOT NULL DEFAULT '';
CREATE TABLE tokens (
  id TEXT NOT NULL PRIMARY KEY,
  role INTEGER NOT NULL CHECK (role BETWEEN 1 AND 4),
  subject TEXT NOT NULL,
  remark TEXT NOT NULL,
  secret_sha256 TEXT NOT NULL,
  old_secret_sha256 TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  old_secret_expires INTEGER NOT NULL,
  last_used INTEGER NOT NULL,
  revoked INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  study_labels BLOB NOT NULL,
  single_use INTEGER NOT NULL CHECK (single_use IN (0, 1)),
  crc INTEGER NOT NULL
) STRICT;
CREATE TABLE certificates (
  id TEXT NOT NULL PRIMARY KEY,
  subject TEXT NOT NULL,
  role INTEGER NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  last_used INTEGER NOT NULL,
  revoked INTEGER NOT NULL,
  crc INTEGER NOT NULL
) STRICT;
CREATE TABLE audit (
  first INTEGER NOT NULL PRIMARY KEY,
  last INTEGER NOT NULL CHECK (last >= first),
  lines BLOB NOT NULL,
  crc INTEGER NOT NULL
) STRICT;
)sql";

// Costs of trials were not summed up before, so the coordinator counts all of
// them once more and writes the summaries again.
constexpr char kCosts[] = R"sql(
DELETE FROM summaries;
ALTER TABLE summaries ADD COLUMN costed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN total_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN mega_flops_spent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN mega_flops_skipped INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN mega_flops_shared INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN prefix_hits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN prefix_misses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN prefix_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN fastest_mega_flops INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr char kEvaluations[] = R"sql(
ALTER TABLE outcomes ADD COLUMN evaluations BLOB NOT NULL DEFAULT x'';
)sql";

constexpr char kNotifications[] = R"sql(
CREATE TABLE notifications (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  study TEXT NOT NULL,
  body BLOB NOT NULL,
  created INTEGER NOT NULL,
  crc INTEGER NOT NULL
) STRICT;
)sql";

}  // namespace

const std::vector<std::string>& SchemaSteps() {
  static const auto* steps = new std::vector<std::string>{
      kFirstSchema, kLogs,   kLead,  kSummaries,   kRequestIds,
      kLogPlaces,   kTokens, kCosts, kEvaluations, kNotifications};
  return *steps;
}

}  // namespace frostline::storage
