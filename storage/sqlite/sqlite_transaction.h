// SPDX-License-Identifier: Apache-2.0
//
// File: sqlite_transaction.h
//
// A transaction on the writer's connection; an operation is a savepoint in it.
#ifndef FROSTLINE_STORAGE_SQLITE_SQLITE_TRANSACTION_H_
#define FROSTLINE_STORAGE_SQLITE_SQLITE_TRANSACTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "storage/sqlite/database.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// A transaction of the store, which must outlive it.
class SqliteTransaction final : public Transaction {
 public:
  static absl::Status Start(Database& writer);

  // REQUIRES: the caller has taken store.slot_ and called Start(). The slot is
  // given back at the end.
  explicit SqliteTransaction(SqliteStore& store)
      : store_(store), writer_(*store.writer_) {}
  ~SqliteTransaction() override;
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  // The error is NOT_LEADER unless `epoch` is the stored one, which then cannot
  // change until this transaction is over.
  absl::Status CheckLead(Epoch epoch);
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
  absl::StatusOr<Statement> Prepare(std::string_view sql);
  // Returns how many rows it has deleted (row_codec.h).
  absl::StatusOr<std::int64_t> DeleteSome(const char* sql, std::int64_t which,
                                          std::int64_t most);
  // Runs the statement. A failure of the store ends the transaction, even if
  // the caller ignores it.
  absl::Status Run(Statement& statement);
  absl::Status RunPlain(std::string_view sql);
  absl::Status Note(absl::Status status);

  absl::StatusOr<Epoch> StoredLead();
  absl::Status AddMeasurement(const MeasurementRow& row);
  absl::Status WhyNoStudy(StudyKey study, std::int64_t expected_etag);
  absl::Status WhyNoTrial(StudyKey study, std::int64_t number);
  void RollBack();

  SqliteStore& store_;
  Database& writer_;
  absl::Status broken_;  // the first failure of the store
  bool over_ = false;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_SQLITE_TRANSACTION_H_
