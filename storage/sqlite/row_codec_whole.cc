// SPDX-License-Identifier: Apache-2.0
//
// Rows that are written as a whole.
#include <bit>
#include <string>

#include "absl/strings/str_cat.h"
#include "storage/blobs.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/sqlite_error.h"
#include "storage/store_errors.h"

namespace frostline {

void BindAttempt(const AttemptRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Int(row.study);
  columns.Int(row.number);
  columns.Int(row.attempt);
  columns.Int(static_cast<int>(row.state));
  columns.Blob(row.secret.Reveal());
  columns.Text(row.worker);
  columns.Text(row.boot_id);
  columns.Int(row.started);
  columns.Int(row.ended);
  columns.Int(static_cast<int>(row.failure));
  columns.Text(row.cause);
  columns.Blob(row.checkpoint);
  columns.Blob(row.outcome);
  columns.Seal();
}

absl::StatusOr<AttemptRow> ReadAttempt(const Statement& statement) {
  AttemptRow row;
  ColumnReader columns(statement);
  row.study = columns.Int();
  row.number = columns.Int();
  row.attempt = columns.Int();
  row.state = static_cast<AttemptState>(columns.Int());
  row.secret = SecretString(columns.Bytes());
  row.worker = columns.Bytes();
  row.boot_id = columns.Bytes();
  row.started = columns.Int();
  row.ended = columns.Int();
  row.failure = static_cast<FailureClass>(columns.Int());
  row.cause = columns.Bytes();
  row.checkpoint = columns.Bytes();
  row.outcome = columns.Bytes();
  columns.Seal();
  if (columns.intact()) return row;
  return StoreCorrupt(absl::StrCat("attempts: attempt ", row.attempt, " of ",
                                   DescribeTrial(row.study, row.number),
                                   " is damaged"));
}

void BindMeasurement(const MeasurementRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Int(row.study);
  columns.Int(row.number);
  columns.Int(row.attempt);
  columns.Int(row.measurement.step);
  columns.Blob(EncodeMeasurement(row.measurement));
  columns.Seal();
}

absl::StatusOr<MeasurementRow> ReadMeasurement(const Statement& statement) {
  MeasurementRow row;
  ColumnReader columns(statement);
  row.study = columns.Int();
  row.number = columns.Int();
  row.attempt = columns.Int();
  row.measurement.step = columns.Int();
  columns.Require(DecodeMeasurement(columns.Bytes(), row.measurement));
  columns.Seal();
  if (columns.intact()) return row;
  return StoreCorrupt(absl::StrCat(
      "measurements: step ", row.measurement.step, ", attempt ", row.attempt,
      " of ", DescribeTrial(row.study, row.number), " is damaged"));
}

void BindOutcome(const OutcomeRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Int(row.study);
  columns.Int(row.number);
  columns.Text(row.data_fingerprint);
  columns.Int(row.encoding);
  columns.Int(row.count);
  columns.Blob(row.data);
  columns.Seal();
}

absl::StatusOr<OutcomeRow> ReadOutcome(const Statement& statement) {
  OutcomeRow row;
  ColumnReader columns(statement);
  row.study = columns.Int();
  row.number = columns.Int();
  row.data_fingerprint = columns.Bytes();
  row.encoding = static_cast<int>(columns.Int());
  row.count = columns.Int();
  row.data = columns.Bytes();
  columns.Seal();
  if (columns.intact()) return row;
  return StoreCorrupt(absl::StrCat("outcomes: those of ",
                                   DescribeTrial(row.study, row.number),
                                   " are damaged"));
}

void BindLog(const LogRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Int(row.study);
  columns.Int(row.number);
  columns.Int(row.attempt);
  columns.Blob(row.tail);
  columns.Int(row.written);
  columns.Seal();
}

absl::StatusOr<LogRow> ReadLog(const Statement& statement) {
  LogRow row;
  ColumnReader columns(statement);
  row.study = columns.Int();
  row.number = columns.Int();
  row.attempt = columns.Int();
  row.tail = columns.Bytes();
  row.written = columns.Int();
  columns.Seal();
  if (columns.intact()) return row;
  return StoreCorrupt(absl::StrCat("logs: that of attempt ", row.attempt,
                                   " of ", DescribeTrial(row.study, row.number),
                                   " is damaged"));
}

void BindWorker(const WorkerRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Text(row.id);
  columns.Text(row.boot_id);
  columns.Int(static_cast<int>(row.state));
  columns.Blob(row.info);
  columns.Int(row.failures_in_a_row);
  columns.Int(row.registered);
  columns.Int(row.last_seen);
  columns.Seal();
}

absl::StatusOr<WorkerRow> ReadWorker(const Statement& statement) {
  WorkerRow row;
  ColumnReader columns(statement);
  row.id = columns.Bytes();
  row.boot_id = columns.Bytes();
  row.state = static_cast<WorkerState>(columns.Int());
  row.info = columns.Bytes();
  row.failures_in_a_row = static_cast<int>(columns.Int());
  row.registered = columns.Int();
  row.last_seen = columns.Int();
  columns.Seal();
  if (columns.intact()) return row;
  return StoreCorrupt(absl::StrCat("workers: worker ", row.id, " is damaged"));
}

void BindReply(const ReplyRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Text(row.request_id);
  columns.Text(row.method);
  columns.Int(std::bit_cast<std::int64_t>(row.request_hash));
  columns.Blob(row.reply);
  columns.Int(row.created);
  columns.Seal();
}

absl::StatusOr<ReplyRow> ReadReply(const Statement& statement) {
  ReplyRow row;
  ColumnReader columns(statement);
  row.request_id = columns.Bytes();
  row.method = columns.Bytes();
  row.request_hash = std::bit_cast<std::uint64_t>(columns.Int());
  row.reply = columns.Bytes();
  row.created = columns.Int();
  columns.Seal();
  if (columns.intact()) return row;
  return StoreCorrupt(
      absl::StrCat("replies: request ", row.request_id, " is damaged"));
}

void BindLead(const LeadRow& row, Statement& statement) {
  ColumnWriter columns(statement);
  columns.Int(row.id);
  columns.Int(row.epoch);
  columns.Seal();
}

absl::StatusOr<LeadRow> ReadLead(const Statement& statement) {
  LeadRow row;
  ColumnReader columns(statement);
  row.id = columns.Int();
  row.epoch = columns.Int();
  columns.Seal();
  if (columns.intact()) return row;
  return StoreCorrupt(absl::StrCat("lead: epoch ", row.epoch, " is damaged"));
}

}  // namespace frostline
