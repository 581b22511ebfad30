// SPDX-License-Identifier: Apache-2.0
//
// File: full_transaction.h
//
// A transaction of a store that finds at the commit that there is no room.
#ifndef FROSTLINE_TESTS_SERVER_FULL_TRANSACTION_H_
#define FROSTLINE_TESTS_SERVER_FULL_TRANSACTION_H_

#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "storage/trial_store.h"

namespace frostline::server {

class FullTransaction final : public storage::Transaction {
 public:
  explicit FullTransaction(std::unique_ptr<storage::Transaction> below)
      : below_(std::move(below)) {}

  absl::Status Operation(absl::FunctionRef<absl::Status()> body) override {
    return below_->Operation(body);
  }
  absl::StatusOr<storage::StudyKey> InsertStudy(
      const storage::StudyRow& study) override {
    return below_->InsertStudy(study);
  }
  absl::Status UpdateStudy(const storage::StudyRow& study,
                           std::int64_t expected_etag) override {
    return below_->UpdateStudy(study, expected_etag);
  }
  absl::Status PurgeStudy(storage::StudyKey study) override {
    return below_->PurgeStudy(study);
  }
  absl::Status InsertTrial(const storage::TrialRow& trial) override {
    return below_->InsertTrial(trial);
  }
  absl::Status UpdateTrial(const storage::TrialRow& trial,
                           const storage::TrialGuard& guard) override {
    return below_->UpdateTrial(trial, guard);
  }
  absl::Status PutAttempt(const storage::AttemptRow& attempt) override {
    return below_->PutAttempt(attempt);
  }
  absl::Status AddMeasurements(
      const std::vector<storage::MeasurementRow>& rows) override {
    return below_->AddMeasurements(rows);
  }
  absl::Status PutOutcome(const storage::OutcomeRow& outcome) override {
    return below_->PutOutcome(outcome);
  }
  absl::Status PutLog(const storage::LogRow& log) override {
    return below_->PutLog(log);
  }
  absl::Status PutSummary(const storage::SummaryRow& summary) override {
    return below_->PutSummary(summary);
  }
  absl::Status PutBest(const storage::BestRow& best) override {
    return below_->PutBest(best);
  }
  absl::Status ForgetWorker(const std::string& id) override {
    return below_->ForgetWorker(id);
  }
  absl::Status PutWorker(const storage::WorkerRow& worker) override {
    return below_->PutWorker(worker);
  }
  absl::Status RememberReply(const storage::ReplyRow& reply) override {
    return below_->RememberReply(reply);
  }
  absl::Status ForgetRepliesBefore(WallMicros time) override {
    return below_->ForgetRepliesBefore(time);
  }
  absl::Status Commit() override {
    below_.reset();  // rolls back
    return MakeError(ErrorId::kStoreFull, "no room for the log", "make room");
  }

 private:
  std::unique_ptr<storage::Transaction> below_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_FULL_TRANSACTION_H_
