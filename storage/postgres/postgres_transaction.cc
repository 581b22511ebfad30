// SPDX-License-Identifier: Apache-2.0
//
// A transaction: how it begins, fails and ends, then what it writes.
#include "storage/postgres/postgres_transaction.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "storage/postgres/sql.h"
#include "storage/row_codec.h"

namespace frostline::storage {

absl::Status PostgresTransaction::WhyNot() const {
  return over_ ? TransactionIsOver() : broken_;
}

absl::Status PostgresTransaction::Note(absl::Status status) {
  const bool is_undone =
      IsStoreFailure(status) || HasErrorId(status, ErrorId::kInternal);
  if (is_undone && broken_.ok()) broken_ = status;
  return status;
}

// A question asked about a refusal settles what came since, so that there may
// be more of them.
absl::Status PostgresTransaction::Settle() {
  RETURN_IF_ERROR(Note(writer_.Settle()));
  while (!doubts_.empty()) {
    std::vector<Why> doubts;
    doubts.swap(doubts_);
    for (const Why& why : doubts) {
      if (!refused_.ok()) break;
      refused_ = why();
      RETURN_IF_ERROR(broken_);
    }
  }
  return absl::OkStatus();
}

absl::Status PostgresTransaction::Send(const std::string& sql,
                                       const Parameters& parameters, Why why) {
  RETURN_IF_ERROR(WhyNot());
  writer_.Queue(sql, parameters, [this, why = std::move(why)](Answer answer) {
    if (why != nullptr && answer.changed() == 0) doubts_.push_back(why);
  });
  return writer_.IsFull() ? Settle() : absl::OkStatus();
}

template <typename Row>
absl::Status PostgresTransaction::WriteOne(const std::string& sql,
                                           const Row& row, const Why& why) {
  Parameters parameters;
  WriteRow(row, parameters);
  ASSIGN_OR_RETURN(const Answer answer, Ask(sql, parameters));
  return answer.changed() == 0 ? why() : absl::OkStatus();
}

absl::StatusOr<Answer> PostgresTransaction::Ask(const std::string& sql,
                                                const Parameters& parameters) {
  RETURN_IF_ERROR(WhyNot());
  std::optional<Answer> answered;
  writer_.Queue(sql, parameters, [&answered](Answer answer) {
    answered.emplace(std::move(answer));
  });
  RETURN_IF_ERROR(Settle());
  return *std::move(answered);
}

template <typename Row>
absl::Status PostgresTransaction::PutRow(const Row& row) {
  Parameters parameters;
  WriteRow(row, parameters);
  return Send(postgres::Put<Row>(), parameters);
}

absl::StatusOr<Epoch> PostgresTransaction::StoredLead(const std::string& lock) {
  begun_ = true;
  writer_.Queue("BEGIN", {});
  // A statement of its own: only the next one surely sees what was committed
  // while this one waited.
  writer_.Queue(lock, {});
  ASSIGN_OR_RETURN(const Answer answer,
                   Ask(postgres::Select<LeadRow>(" WHERE id = 1"), {}));
  if (answer.rows() == 0) return Epoch{0};
  ASSIGN_OR_RETURN(const LeadRow row,
                   ReadSealed<LeadRow>(RowSource{answer, 0}));
  return row.epoch;
}

absl::Status PostgresTransaction::CheckLead(Epoch epoch) {
  ASSIGN_OR_RETURN(const Epoch stored, StoredLead(postgres::kLockLead));
  const bool leads = epoch == stored && epoch > 0;
  return leads ? absl::OkStatus() : NotLeader(stored, epoch);
}

absl::StatusOr<Epoch> PostgresTransaction::RaiseLead() {
  ASSIGN_OR_RETURN(const Epoch stored, StoredLead(postgres::kLockLeadAlone));
  RETURN_IF_ERROR(PutRow(LeadRow{.epoch = stored + 1}));
  return stored + 1;
}

absl::Status PostgresTransaction::Operation(
    absl::FunctionRef<absl::Status()> body) {
  RETURN_IF_ERROR(WhyNot());
  writer_.Queue("SAVEPOINT operation", {});
  absl::Status status = body();
  RETURN_IF_ERROR(broken_);  // the whole transaction is undone, later
  if (!status.ok()) {
    // What was refused in it is still told by Commit(): its caller may have
    // remembered more than it wrote.
    RETURN_IF_ERROR(Settle());
    writer_.Queue("ROLLBACK TO SAVEPOINT operation", {});
  }
  writer_.Queue("RELEASE SAVEPOINT operation", {});
  return status;
}

// What was not committed is undone; a connection that cannot do it is closed.
void PostgresTransaction::End() {
  if (begun_ && writer_.IsAlive()) {
    writer_.Queue("ROLLBACK", {});
    writer_.Settle().IgnoreError();  // a lost connection undoes it, too
  }
  over_ = true;
  store_.slot_.Give();
}

PostgresTransaction::~PostgresTransaction() {
  if (!over_) End();
}

absl::Status PostgresTransaction::Commit() {
  if (over_) return TransactionIsOver();
  FROSTLINE_FAILPOINT(kTransactionWritten);
  absl::Status status = broken_;
  if (status.ok()) status = Settle();
  if (status.ok()) status = refused_;
  if (!status.ok()) {
    End();
    return status;
  }
  writer_.Queue("COMMIT", {});
  status = writer_.Settle();
  FROSTLINE_FAILPOINT(kTransactionCommitted);
  if (!status.ok() && !writer_.IsAlive()) {
    // It may have been committed.
    status = MakeError(ErrorId::kStoreIo, std::string(status.message()),
                       "start again: what is stored is read anew");
    store_.failure_ = status;
  }
  over_ = true;
  store_.slot_.Give();
  return status;
}

// What a transaction writes.

absl::StatusOr<StudyKey> PostgresTransaction::InsertStudy(
    const StudyRow& study) {
  Parameters parameters;
  WriteRow(study, parameters);
  ASSIGN_OR_RETURN(
      const Answer answer,
      Ask(postgres::Insert<StudyRow>() + " RETURNING key", parameters));
  if (answer.rows() == 0) return StudyAlreadyExists(study.id);
  return answer.IntAt(0, 0);
}

absl::Status PostgresTransaction::UpdateStudy(const StudyRow& study,
                                              std::int64_t expected_etag) {
  const std::size_t n = postgres::ChangingCount<StudyRow>();
  Parameters parameters;
  WriteChanging(study, parameters);
  parameters.Int(study.key);
  parameters.Int(expected_etag);
  return Send(
      postgres::Update<StudyRow>(absl::StrCat(
          " WHERE key = $", n + 1, " AND etag = $", n + 2,
          " AND ($1 = 5 OR NOT EXISTS (SELECT 1 FROM studies other WHERE "
          "other.id = studies.id AND other.key <> studies.key "
          "AND other.state <> 5))")),
      parameters, [this, study, expected_etag] {
        return WhyNoStudy(study, expected_etag);
      });
}

absl::Status PostgresTransaction::WhyNoStudy(const StudyRow& study,
                                             std::int64_t expected_etag) {
  Parameters parameters;
  parameters.Int(study.key);
  ASSIGN_OR_RETURN(
      const Answer answer,
      Ask(postgres::Select<StudyRow>(" WHERE key = $1"), parameters));
  if (answer.rows() == 0) return StudyKeyNotFound(study.key);
  ASSIGN_OR_RETURN(const StudyRow stored,
                   ReadSealed<StudyRow>(RowSource{answer, 0}));
  return stored.etag == expected_etag ? StudyAlreadyExists(study.id)
                                      : EtagMismatch(stored, expected_etag);
}

absl::StatusOr<bool> PostgresTransaction::PurgeStudy(StudyKey study,
                                                     std::int64_t most) {
  // Rows go before the rows to which they refer.
  const std::string statements[] = {
      postgres::DeleteSome<MeasurementRow>("study = $1"),
      postgres::DeleteSome<OutcomeRow>("study = $1"),
      postgres::DeleteSome<LogRow>("study = $1"),
      postgres::DeleteSome<BestRow>("study = $1"),
      postgres::DeleteSome<SummaryRow>("study = $1"),
      postgres::DeleteSome<AttemptRow>("study = $1"),
      postgres::DeleteSome<TrialRow>("study = $1"),
      postgres::DeleteSome<StudyRow>("key = $1"),
  };
  std::int64_t removed = 0;
  for (const std::string& statement : statements) {
    const std::int64_t limit = most;
    ASSIGN_OR_RETURN(removed, DeleteSome(statement, study, limit));
    most -= removed;
    if (removed == limit && &statement != std::end(statements) - 1) return true;
  }
  // The last one is the study's own row.
  if (removed == 0) return StudyKeyNotFound(study);
  return false;
}

absl::StatusOr<std::int64_t> PostgresTransaction::DeleteSome(
    const std::string& sql, std::int64_t which, std::int64_t most) {
  Parameters parameters;
  parameters.Int(which);
  parameters.Int(std::max<std::int64_t>(most, 0));
  ASSIGN_OR_RETURN(const Answer answer, Ask(sql, parameters));
  return answer.changed();
}

absl::Status PostgresTransaction::InsertTrial(const TrialRow& trial) {
  return WriteOne(postgres::Insert<TrialRow>(postgres::kIfStudy), trial,
                  [this, study = trial.study, number = trial.number] {
                    return WhyNoNewTrial(study, number);
                  });
}

absl::Status PostgresTransaction::WhyNoNewTrial(StudyKey study,
                                                std::int64_t number) {
  Parameters parameters;
  parameters.Int(study);
  parameters.Int(number);
  ASSIGN_OR_RETURN(
      const Answer answer,
      Ask("SELECT 1 FROM trials WHERE study = $1 AND number = $2", parameters));
  const std::string name = DescribeTrial(study, number);
  return answer.rows() > 0 ? RowExists(name) : RowIsOrphan(name);
}

absl::Status PostgresTransaction::UpdateTrial(const TrialRow& trial,
                                              const TrialGuard& guard) {
  const std::size_t n = postgres::ChangingCount<TrialRow>();
  Parameters parameters;
  WriteChanging(trial, parameters);
  parameters.Int(trial.study);
  parameters.Int(trial.number);
  parameters.Int(static_cast<int>(guard.state));
  parameters.Int(guard.attempt);
  std::string where =
      absl::StrCat(" WHERE study = $", n + 1, " AND number = $", n + 2,
                   " AND state = $", n + 3, " AND attempt = $", n + 4);
  if (guard.secret.has_value()) {
    parameters.Blob(guard.secret->Reveal());
    absl::StrAppend(&where, " AND secret = $", n + 5);
  }
  return Send(postgres::Update<TrialRow>(where), parameters,
              [this, study = trial.study, number = trial.number] {
                return WhyNoTrial(study, number);
              });
}

absl::Status PostgresTransaction::WhyNoTrial(StudyKey study,
                                             std::int64_t number) {
  Parameters parameters;
  parameters.Int(study);
  parameters.Int(number);
  ASSIGN_OR_RETURN(
      const Answer answer,
      Ask(postgres::Select<TrialRow>(" WHERE study = $1 AND number = $2"),
          parameters));
  if (answer.rows() == 0) return TrialNotFound(number);
  ASSIGN_OR_RETURN(const TrialRow stored,
                   ReadSealed<TrialRow>(RowSource{answer, 0}));
  return LeaseLost(stored);
}

absl::Status PostgresTransaction::PutAttempt(const AttemptRow& attempt) {
  return WriteOne(postgres::Put<AttemptRow>(postgres::kIfAttempt), attempt,
                  [name = NameOf(attempt)] { return RowIsOrphan(name); });
}

absl::Status PostgresTransaction::AddMeasurements(
    const std::vector<MeasurementRow>& rows) {
  RETURN_IF_ERROR(WhyNot());
  std::vector<const MeasurementRow*> not_new;
  const std::string sql =
      postgres::Insert<MeasurementRow>(postgres::kIfAttempt);
  for (const MeasurementRow& row : rows) {
    Parameters parameters;
    WriteRow(row, parameters);
    writer_.Queue(sql, parameters, [&not_new, &row](Answer answer) {
      if (answer.changed() == 0) not_new.push_back(&row);
    });
    if (writer_.IsFull()) RETURN_IF_ERROR(Settle());
  }
  RETURN_IF_ERROR(Settle());
  for (const MeasurementRow* const row : not_new) {
    RETURN_IF_ERROR(WhyNoMeasurement(*row));
  }
  return absl::OkStatus();
}

absl::Status PostgresTransaction::WhyNoMeasurement(const MeasurementRow& row) {
  Parameters parameters;
  parameters.Int(row.study);
  parameters.Int(row.number);
  parameters.Int(row.attempt);
  parameters.Int(row.measurement.step);
  ASSIGN_OR_RETURN(const Answer answer,
                   Ask(postgres::Select<MeasurementRow>(
                           " WHERE study = $1 AND number = $2 AND attempt = $3 "
                           "AND step = $4"),
                       parameters));
  if (answer.rows() == 0) return RowIsOrphan(NameOf(row));
  ASSIGN_OR_RETURN(const MeasurementRow stored,
                   ReadSealed<MeasurementRow>(RowSource{answer, 0}));
  const bool same =
      SameMetrics(stored.measurement.metrics, row.measurement.metrics);
  return same ? absl::OkStatus() : ReportConflict(row);
}

absl::Status PostgresTransaction::PutOutcome(const OutcomeRow& outcome) {
  return WriteOne(postgres::Put<OutcomeRow>(postgres::kIfTrial), outcome,
                  [name = NameOf(outcome)] {
                    return RowIsOrphan("the outcomes of " + name);
                  });
}

absl::Status PostgresTransaction::PutLog(const LogRow& log) {
  return WriteOne(
      postgres::Put<LogRow>(postgres::kIfAttempt), log,
      [name = NameOf(log)] { return RowIsOrphan("a log of " + name); });
}

absl::Status PostgresTransaction::PutSummary(const SummaryRow& summary) {
  return WriteOne(postgres::Put<SummaryRow>(postgres::kIfStudy), summary,
                  [name = NameOf(summary)] {
                    return RowIsOrphan("the summary of " + name);
                  });
}

absl::Status PostgresTransaction::PutBest(const BestRow& best) {
  return WriteOne(
      postgres::Put<BestRow>(postgres::kIfTrial), best,
      [name = NameOf(best)] { return RowIsOrphan("the rank of " + name); });
}

absl::Status PostgresTransaction::PutWorker(const WorkerRow& worker) {
  return PutRow(worker);
}

absl::Status PostgresTransaction::ForgetWorker(const std::string& id) {
  Parameters parameters;
  parameters.Text(id);
  return Send("DELETE FROM workers WHERE id = $1", parameters);
}

absl::Status PostgresTransaction::PutToken(const TokenRow& token) {
  return PutRow(token);
}

absl::Status PostgresTransaction::PutCertificate(
    const CertificateRow& certificate) {
  return PutRow(certificate);
}

absl::Status PostgresTransaction::PutAudit(const AuditRow& entries) {
  return PutRow(entries);
}

absl::Status PostgresTransaction::ForgetAuditBefore(std::int64_t first) {
  Parameters parameters;
  parameters.Int(first);
  return Send("DELETE FROM audit WHERE first < $1", parameters);
}

absl::Status PostgresTransaction::PutNotification(
    const NotificationRow& notification) {
  return PutRow(notification);
}

absl::Status PostgresTransaction::ForgetNotification(const std::string& id) {
  Parameters parameters;
  parameters.Text(id);
  return Send("DELETE FROM notifications WHERE id = $1", parameters);
}

absl::Status PostgresTransaction::RememberReply(const ReplyRow& reply) {
  Parameters parameters;
  WriteRow(reply, parameters);
  return Send(postgres::Insert<ReplyRow>(), parameters,
              [id = reply.request_id] { return RequestIdReused(id); });
}

absl::StatusOr<bool> PostgresTransaction::ForgetRepliesBefore(
    WallMicros time, std::int64_t most) {
  ASSIGN_OR_RETURN(
      const std::int64_t forgotten,
      DeleteSome(postgres::DeleteSome<ReplyRow>("created < $1"), time, most));
  return forgotten == most;
}

}  // namespace frostline::storage
