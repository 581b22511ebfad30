// SPDX-License-Identifier: Apache-2.0
//
// File: postgres_transaction.h
//
// A transaction on the writer's connection; an operation is a savepoint in it.
// A write whose refusal may be deferred (IsDeferrable) is sent and waits for no
// answer; any other is settled at once, together with what was sent before it.
#ifndef FROSTLINE_STORAGE_POSTGRES_POSTGRES_TRANSACTION_H_
#define FROSTLINE_STORAGE_POSTGRES_POSTGRES_TRANSACTION_H_

#include <functional>
#include <string>
#include <vector>

#include "storage/postgres/connection.h"
#include "storage/postgres/postgres_store.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// A transaction of the store, which must outlive it.
class PostgresTransaction final : public Transaction {
 public:
  // REQUIRES: the caller has taken store.slot_, and the writer is alive. The
  // slot is given back at the end.
  explicit PostgresTransaction(PostgresStore& store)
      : store_(store), writer_(*store.writer_) {}
  ~PostgresTransaction() override;
  PostgresTransaction(const PostgresTransaction&) = delete;
  PostgresTransaction& operator=(const PostgresTransaction&) = delete;

  // Begins. The error is NOT_LEADER unless `epoch` is the stored one, which
  // then cannot change until this transaction is over.
  absl::Status CheckLead(Epoch epoch);
  // Begins, when no other transaction is open, and raises the epoch.
  absl::StatusOr<Epoch> RaiseLead();

  absl::Status Operation(absl::FunctionRef<absl::Status()> body) override;

  absl::StatusOr<StudyKey> InsertStudy(const StudyRow& study) override;
  absl::Status UpdateStudy(const StudyRow& study,
                           std::int64_t expected_etag) override;
  absl::StatusOr<bool> PurgeStudy(StudyKey study, std::int64_t most) override;
  absl::Status InsertTrial(const TrialRow& trial) override;
  absl::Status UpdateTrial(const TrialRow& trial,
                           const TrialGuard& guard) override;
  absl::Status PutAttempt(const AttemptRow& attempt) override;
  absl::Status AddMeasurements(
      const std::vector<MeasurementRow>& rows) override;
  absl::Status PutOutcome(const OutcomeRow& outcome) override;
  absl::Status PutLog(const LogRow& log) override;
  absl::Status PutSummary(const SummaryRow& summary) override;
  absl::Status PutBest(const BestRow& best) override;
  absl::Status PutWorker(const WorkerRow& worker) override;
  absl::Status ForgetWorker(const std::string& id) override;
  absl::Status PutToken(const TokenRow& token) override;
  absl::Status PutCertificate(const CertificateRow& certificate) override;
  absl::Status PutAudit(const AuditRow& entries) override;
  absl::Status ForgetAuditBefore(std::int64_t first) override;
  absl::Status PutNotification(const NotificationRow& notification) override;
  absl::Status ForgetNotification(const std::string& id) override;
  absl::Status RememberReply(const ReplyRow& reply) override;
  absl::StatusOr<bool> ForgetRepliesBefore(WallMicros time,
                                           std::int64_t most) override;

  absl::Status Commit() override;

 private:
  // Says why a statement wrote no row; OK: that is all right.
  using Why = std::function<absl::Status()>;

  // Sends a statement. `why` is asked when it is settled and wrote nothing;
  // what it says is kept for Commit().
  absl::Status Send(const std::string& sql, const Parameters& parameters,
                    Why why = nullptr);
  absl::Status Settle();
  absl::StatusOr<Answer> Ask(const std::string& sql,
                             const Parameters& parameters);
  // The first failure of the store ends the transaction.
  absl::Status Note(absl::Status status);
  absl::Status WhyNot() const;
  // Whether or not there is such a row.
  template <typename Row>
  absl::Status PutRow(const Row& row);
  // Sends a row, settles it, and returns what `why` says if it was not written.
  template <typename Row>
  absl::Status WriteOne(const std::string& sql, const Row& row, const Why& why);
  absl::StatusOr<std::int64_t> DeleteSome(const std::string& sql,
                                          std::int64_t which,
                                          std::int64_t most);

  absl::StatusOr<Epoch> StoredLead(const std::string& lock);
  absl::Status WhyNoNewTrial(StudyKey study, std::int64_t number);
  absl::Status WhyNoTrial(StudyKey study, std::int64_t number);
  absl::Status WhyNoStudy(const StudyRow& study, std::int64_t expected_etag);
  absl::Status WhyNoMeasurement(const MeasurementRow& row);
  void End();

  PostgresStore& store_;
  Connection& writer_;
  std::vector<Why> doubts_;  // of statements that wrote nothing
  absl::Status refused_;     // the first of them, for Commit()
  absl::Status broken_;      // the first failure of the store
  bool begun_ = false;
  bool over_ = false;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_POSTGRES_POSTGRES_TRANSACTION_H_
