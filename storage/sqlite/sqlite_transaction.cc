// SPDX-License-Identifier: Apache-2.0
//
// A transaction: how it begins, fails and ends, then what it writes.
#include "storage/sqlite/sqlite_transaction.h"

#include <sqlite3.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/row_codec.h"
#include "storage/trial_store.h"

namespace frostline::storage {

absl::Status SqliteTransaction::Start(Database& writer) {
  ASSIGN_OR_RETURN(Statement begin, writer.Prepare(sql::kBegin));
  return begin.Run();
}

SqliteTransaction::~SqliteTransaction() {
  if (over_) return;
  RollBack();
  store_.slot_.Give();
}

absl::StatusOr<Statement> SqliteTransaction::Prepare(std::string_view sql) {
  if (over_) return TransactionIsOver();
  RETURN_IF_ERROR(broken_);
  absl::StatusOr<Statement> statement = writer_.Prepare(sql);
  Note(statement.status()).IgnoreError();  // returned with the statement
  return statement;
}

absl::Status SqliteTransaction::Note(absl::Status status) {
  if (IsStoreFailure(status) && broken_.ok()) broken_ = status;
  return status;
}

absl::Status SqliteTransaction::Run(Statement& statement) {
  return Note(statement.Run());
}

absl::Status SqliteTransaction::RunPlain(std::string_view sql) {
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  return Run(statement);
}

absl::StatusOr<Epoch> SqliteTransaction::StoredLead() {
  ASSIGN_OR_RETURN(Statement find, Prepare(sql::kFindLead));
  const absl::StatusOr<bool> found = find.Step();
  RETURN_IF_ERROR(Note(found.status()));
  if (!*found) return Epoch{0};
  const absl::StatusOr<LeadRow> stored = ReadRow<LeadRow>(find);
  RETURN_IF_ERROR(Note(stored.status()));
  return stored->epoch;
}

absl::Status SqliteTransaction::CheckLead(Epoch epoch) {
  ASSIGN_OR_RETURN(const Epoch stored, StoredLead());
  const bool leads = epoch == stored && epoch > 0;
  return leads ? absl::OkStatus() : NotLeader(stored, epoch);
}

absl::StatusOr<Epoch> SqliteTransaction::RaiseLead() {
  ASSIGN_OR_RETURN(const Epoch stored, StoredLead());
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutLead));
  BindRow(LeadRow{.epoch = stored + 1}, put);
  RETURN_IF_ERROR(Run(put));
  return stored + 1;
}

absl::Status SqliteTransaction::Operation(
    absl::FunctionRef<absl::Status()> body) {
  RETURN_IF_ERROR(RunPlain(sql::kBeginOperation));
  absl::Status status = body();
  RETURN_IF_ERROR(broken_);  // the whole transaction is undone, later
  if (!status.ok()) RETURN_IF_ERROR(RunPlain(sql::kUndoOperation));
  RETURN_IF_ERROR(RunPlain(sql::kEndOperation));
  return status;
}

// SQLite may have rolled back already; a second ROLLBACK would be an error that
// hides the first one.
void SqliteTransaction::RollBack() {
  if (!writer_.InTransaction()) return;
  const absl::Status status = writer_.Execute(sql::kRollback);
  if (!status.ok()) store_.Failed(status);
}

absl::Status SqliteTransaction::Commit() {
  if (over_) return TransactionIsOver();
  FROSTLINE_FAILPOINT(kTransactionWritten);
  absl::Status status = RunPlain(sql::kCommit);
  FROSTLINE_FAILPOINT(kTransactionCommitted);
  // What was written to a file without a name is gone.
  if (status.ok()) status = store_.files_.Check();
  if (status.ok()) {
    store_.Committed();
  } else {
    RollBack();
    store_.Failed(status);
  }
  over_ = true;
  store_.slot_.Give();
  return status;
}

// What a transaction writes.

namespace {

bool IsOrphan(const Statement& statement) {
  return statement.code() == SQLITE_CONSTRAINT_FOREIGNKEY;
}

bool IsDuplicate(const Statement& statement) {
  return statement.code() == SQLITE_CONSTRAINT_PRIMARYKEY ||
         statement.code() == SQLITE_CONSTRAINT_UNIQUE;
}

}  // namespace

absl::StatusOr<StudyKey> SqliteTransaction::InsertStudy(const StudyRow& study) {
  ASSIGN_OR_RETURN(Statement insert, Prepare(sql::kInsertStudy));
  BindRow(study, insert);
  const absl::Status status = Run(insert);
  if (IsDuplicate(insert)) return StudyAlreadyExists(study.id);
  RETURN_IF_ERROR(status);
  return writer_.LastKey();
}

absl::Status SqliteTransaction::UpdateStudy(const StudyRow& study,
                                            std::int64_t expected_etag) {
  ASSIGN_OR_RETURN(Statement update, Prepare(sql::kUpdateStudy));
  BindChanging(study, update);
  update.Int(study.key);
  update.Int(expected_etag);
  const absl::Status status = Run(update);
  if (IsDuplicate(update)) return StudyAlreadyExists(study.id);
  RETURN_IF_ERROR(status);
  return update.changes() == 1 ? absl::OkStatus()
                               : WhyNoStudy(study.key, expected_etag);
}

absl::Status SqliteTransaction::WhyNoStudy(StudyKey study,
                                           std::int64_t expected_etag) {
  ASSIGN_OR_RETURN(Statement find, Prepare(sql::kFindStudyByKey));
  find.Int(study);
  const absl::StatusOr<bool> found = find.Step();
  RETURN_IF_ERROR(Note(found.status()));
  if (!*found) return StudyKeyNotFound(study);
  const absl::StatusOr<StudyRow> stored = ReadRow<StudyRow>(find);
  RETURN_IF_ERROR(Note(stored.status()));
  return EtagMismatch(*stored, expected_etag);
}

absl::StatusOr<bool> SqliteTransaction::PurgeStudy(StudyKey study,
                                                   std::int64_t most) {
  std::int64_t removed = 0;
  for (const sql::Purge& purge : sql::kPurgeStudy) {
    const std::int64_t limit =
        purge.is_of_large_rows ? std::min(most, sql::kLargeRowsAtOnce) : most;
    ASSIGN_OR_RETURN(removed, DeleteSome(purge.sql, study, limit));
    most -= removed;
    if (removed == limit && &purge != std::end(sql::kPurgeStudy) - 1) {
      return true;
    }
  }
  // The last one is the study's own row.
  if (removed == 0) return StudyKeyNotFound(study);
  return false;
}

absl::StatusOr<std::int64_t> SqliteTransaction::DeleteSome(const char* sql,
                                                           std::int64_t which,
                                                           std::int64_t most) {
  ASSIGN_OR_RETURN(Statement remove, Prepare(sql));
  remove.Int(which);
  remove.Int(most);
  RETURN_IF_ERROR(Run(remove));
  return remove.changes();
}

absl::Status SqliteTransaction::InsertTrial(const TrialRow& trial) {
  ASSIGN_OR_RETURN(Statement insert, Prepare(sql::kInsertTrial));
  BindRow(trial, insert);
  const absl::Status status = Run(insert);
  const std::string name = DescribeTrial(trial.study, trial.number);
  if (IsDuplicate(insert)) return RowExists(name);
  return IsOrphan(insert) ? RowIsOrphan(name) : status;
}

absl::Status SqliteTransaction::UpdateTrial(const TrialRow& trial,
                                            const TrialGuard& guard) {
  ASSIGN_OR_RETURN(Statement update,
                   Prepare(guard.secret.has_value() ? sql::kUpdateTrialOfHolder
                                                    : sql::kUpdateTrial));
  BindChanging(trial, update);
  update.Int(trial.study);
  update.Int(trial.number);
  update.Int(static_cast<int>(guard.state));
  update.Int(guard.attempt);
  if (guard.secret.has_value()) update.Blob(guard.secret->Reveal());
  RETURN_IF_ERROR(Run(update));
  return update.changes() == 1 ? absl::OkStatus()
                               : WhyNoTrial(trial.study, trial.number);
}

absl::Status SqliteTransaction::WhyNoTrial(StudyKey study,
                                           std::int64_t number) {
  ASSIGN_OR_RETURN(Statement find, Prepare(sql::kFindTrial));
  find.Int(study);
  find.Int(number);
  const absl::StatusOr<bool> found = find.Step();
  RETURN_IF_ERROR(Note(found.status()));
  if (!*found) return TrialNotFound(number);
  const absl::StatusOr<TrialRow> stored = ReadRow<TrialRow>(find);
  RETURN_IF_ERROR(Note(stored.status()));
  return LeaseLost(*stored);
}

absl::Status SqliteTransaction::PutAttempt(const AttemptRow& attempt) {
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutAttempt));
  BindRow(attempt, put);
  RETURN_IF_ERROR(Run(put));
  if (put.changes() == 1) return absl::OkStatus();
  return RowIsOrphan(
      absl::StrCat("attempt ", attempt.attempt, " of ",
                   DescribeTrial(attempt.study, attempt.number)));
}

absl::Status SqliteTransaction::AddMeasurements(
    const std::vector<MeasurementRow>& rows) {
  for (const MeasurementRow& row : rows) RETURN_IF_ERROR(AddMeasurement(row));
  return over_ ? TransactionIsOver() : broken_;
}

absl::Status SqliteTransaction::AddMeasurement(const MeasurementRow& row) {
  ASSIGN_OR_RETURN(Statement add, Prepare(sql::kAddMeasurement));
  BindRow(row, add);
  RETURN_IF_ERROR(Run(add));
  if (add.changes() == 1) return absl::OkStatus();

  ASSIGN_OR_RETURN(Statement find, Prepare(sql::kFindMeasurement));
  find.Int(row.study);
  find.Int(row.number);
  find.Int(row.attempt);
  find.Int(row.measurement.step);
  const absl::StatusOr<bool> found = find.Step();
  RETURN_IF_ERROR(Note(found.status()));
  if (!*found) {
    return RowIsOrphan(absl::StrCat("a measurement of attempt ", row.attempt,
                                    " of ",
                                    DescribeTrial(row.study, row.number)));
  }
  const absl::StatusOr<MeasurementRow> stored = ReadRow<MeasurementRow>(find);
  RETURN_IF_ERROR(Note(stored.status()));
  const bool same =
      SameMetrics(stored->measurement.metrics, row.measurement.metrics);
  return same ? absl::OkStatus() : ReportConflict(row);
}

absl::Status SqliteTransaction::PutOutcome(const OutcomeRow& outcome) {
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutOutcome));
  BindRow(outcome, put);
  absl::Status status = Run(put);
  if (!IsOrphan(put)) return status;
  return RowIsOrphan(absl::StrCat(
      "the outcomes of ", DescribeTrial(outcome.study, outcome.number)));
}

absl::Status SqliteTransaction::PutLog(const LogRow& log) {
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutLog));
  BindRow(log, put);
  RETURN_IF_ERROR(Run(put));
  if (put.changes() == 1) return absl::OkStatus();
  return RowIsOrphan(absl::StrCat("a log of attempt ", log.attempt, " of ",
                                  DescribeTrial(log.study, log.number)));
}

absl::Status SqliteTransaction::PutSummary(const SummaryRow& summary) {
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutSummary));
  BindRow(summary, put);
  absl::Status status = Run(put);
  if (!IsOrphan(put)) return status;
  return RowIsOrphan(absl::StrCat("the summary of study ", summary.study));
}

absl::Status SqliteTransaction::PutBest(const BestRow& best) {
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutBest));
  BindRow(best, put);
  absl::Status status = Run(put);
  if (!IsOrphan(put)) return status;
  return RowIsOrphan(
      absl::StrCat("the rank of ", DescribeTrial(best.study, best.number)));
}

absl::Status SqliteTransaction::PutWorker(const WorkerRow& worker) {
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutWorker));
  BindRow(worker, put);
  return Run(put);
}

absl::Status SqliteTransaction::ForgetWorker(const std::string& id) {
  ASSIGN_OR_RETURN(Statement forget, Prepare(sql::kForgetWorker));
  forget.Text(id);
  return Run(forget);
}

absl::Status SqliteTransaction::PutToken(const TokenRow& token) {
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutToken));
  BindRow(token, put);
  return Run(put);
}

absl::Status SqliteTransaction::PutCertificate(
    const CertificateRow& certificate) {
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutCertificate));
  BindRow(certificate, put);
  return Run(put);
}

absl::Status SqliteTransaction::PutAudit(const AuditRow& entries) {
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutAudit));
  BindRow(entries, put);
  return Run(put);
}

absl::Status SqliteTransaction::ForgetAuditBefore(std::int64_t first) {
  ASSIGN_OR_RETURN(Statement forget, Prepare(sql::kForgetAudit));
  forget.Int(first);
  return Run(forget);
}

absl::Status SqliteTransaction::PutNotification(
    const NotificationRow& notification) {
  ASSIGN_OR_RETURN(Statement put, Prepare(sql::kPutNotification));
  BindRow(notification, put);
  return Run(put);
}

absl::Status SqliteTransaction::ForgetNotification(const std::string& id) {
  ASSIGN_OR_RETURN(Statement forget, Prepare(sql::kForgetNotification));
  forget.Text(id);
  return Run(forget);
}

absl::Status SqliteTransaction::RememberReply(const ReplyRow& reply) {
  ASSIGN_OR_RETURN(Statement insert, Prepare(sql::kRememberReply));
  BindRow(reply, insert);
  const absl::Status status = Run(insert);
  return IsDuplicate(insert) ? RequestIdReused(reply.request_id) : status;
}

absl::StatusOr<bool> SqliteTransaction::ForgetRepliesBefore(WallMicros time,
                                                            std::int64_t most) {
  ASSIGN_OR_RETURN(const std::int64_t forgotten,
                   DeleteSome(sql::kForgetReplies, time, most));
  return forgotten == most;
}

}  // namespace frostline::storage
