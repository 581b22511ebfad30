// SPDX-License-Identifier: Apache-2.0
//
// Studies and trials: rows with columns that change and others that never do.
#include "storage/sqlite/row_codec.h"

#include <bit>
#include <string>

#include "absl/strings/str_cat.h"
#include "storage/blobs.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/sqlite_error.h"
#include "storage/store_errors.h"

namespace frostline {

void BindStudyFixed(const StudyRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Text(row.id);
  columns.Blob(row.spec);
  columns.Int(std::bit_cast<std::int64_t>(row.seed));
  columns.Int(row.created);
  columns.Seal();
}

// The key is given by the database, so it is under no seal.
void BindStudyChanging(const StudyRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Int(static_cast<int>(row.state));
  columns.Blob(row.settings);
  columns.Int(row.etag);
  columns.Int(row.revision);
  columns.Int(row.updated);
  columns.Int(row.expires);
  columns.Text(row.state_reason);
  columns.Seal();
}

absl::StatusOr<StudyRow> ReadStudy(const Statement& statement) {
  StudyRow row;
  row.key = statement.IntAt(0);
  ColumnReader columns(statement, 1);
  row.id = columns.Bytes();
  row.spec = columns.Bytes();
  row.seed = std::bit_cast<std::uint64_t>(columns.Int());
  row.created = columns.Int();
  columns.Seal();
  row.state = static_cast<StudyState>(columns.Int());
  row.settings = columns.Bytes();
  row.etag = columns.Int();
  row.revision = columns.Int();
  row.updated = columns.Int();
  row.expires = columns.Int();
  row.state_reason = columns.Bytes();
  columns.Seal();
  if (columns.intact()) return row;
  return StoreCorrupt(absl::StrCat("studies: study ", row.key, " is damaged"));
}

void BindTrialFixed(const TrialRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Int(row.study);
  columns.Int(row.number);
  columns.Int(static_cast<int>(row.origin));
  columns.Blob(EncodeDoubles(row.point));
  columns.Int(row.created);
  columns.Seal();
}

void BindTrialChanging(const TrialRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Mix(row.study);
  columns.Mix(row.number);
  columns.Int(static_cast<int>(row.state));
  columns.Int(row.attempt);
  columns.Blob(row.secret.Reveal());
  columns.Text(row.worker);
  columns.Int(row.trial_faults);
  columns.Int(row.infrastructure_faults);
  columns.Int(row.priority);
  columns.Int(row.revision);
  columns.Int(row.started);
  columns.Int(row.ended);
  columns.Int(row.last_step);
  columns.Blob(EncodeMetrics(row.metrics));
  columns.Blob(EncodeDoubles(row.values));
  columns.Int(static_cast<int>(row.failure));
  columns.Text(row.cause);
  columns.Blob(row.usage);
  columns.Blob(row.labels);
  columns.Int(row.seen_revision);
  columns.Int(row.ended_revision);
  columns.Seal();
}

absl::StatusOr<TrialRow> ReadTrial(const Statement& statement) {
  TrialRow row;
  ColumnReader columns(statement);
  row.study = columns.Int();
  row.number = columns.Int();
  row.origin = static_cast<TrialOrigin>(columns.Int());
  columns.Require(DecodeDoubles(columns.Bytes(), row.point));
  row.created = columns.Int();
  columns.Seal();
  columns.Mix(row.study);
  columns.Mix(row.number);
  row.state = static_cast<TrialState>(columns.Int());
  row.attempt = columns.Int();
  row.secret = SecretString(columns.Bytes());
  row.worker = columns.Bytes();
  row.trial_faults = static_cast<int>(columns.Int());
  row.infrastructure_faults = static_cast<int>(columns.Int());
  row.priority = static_cast<int>(columns.Int());
  row.revision = columns.Int();
  row.started = columns.Int();
  row.ended = columns.Int();
  row.last_step = columns.Int();
  columns.Require(DecodeMetrics(columns.Bytes(), row.metrics));
  columns.Require(DecodeDoubles(columns.Bytes(), row.values));
  row.failure = static_cast<FailureClass>(columns.Int());
  row.cause = columns.Bytes();
  row.usage = columns.Bytes();
  row.labels = columns.Bytes();
  row.seen_revision = columns.Int();
  row.ended_revision = columns.Int();
  columns.Seal();
  if (columns.intact()) return row;
  return StoreCorrupt(absl::StrCat(
      "trials: ", DescribeTrial(row.study, row.number), " is damaged"));
}

}  // namespace frostline
