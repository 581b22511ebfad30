// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/deferring_store.h"

#include "base/error.h"
#include "storage/store_errors.h"

namespace frostline::test {
namespace {

// What was begun without the lead has nothing below it, and says so at last.
class DeferringTransaction final : public storage::Transaction {
 public:
  explicit DeferringTransaction(
      absl::StatusOr<std::unique_ptr<storage::Transaction>> begun) {
    if (begun.ok()) {
      below_ = *std::move(begun);
    } else {
      refused_ = begun.status();
    }
  }

  absl::Status Operation(absl::FunctionRef<absl::Status()> body) override {
    if (over_) return storage::TransactionIsOver();
    return below_ == nullptr ? body() : below_->Operation(body);
  }
  absl::StatusOr<storage::StudyKey> InsertStudy(
      const storage::StudyRow& study) override {
    if (over_) return storage::TransactionIsOver();
    if (below_ == nullptr) return refused_;
    return below_->InsertStudy(study);
  }
  absl::Status UpdateStudy(const storage::StudyRow& study,
                           std::int64_t expected_etag) override {
    return Late([&] { return below_->UpdateStudy(study, expected_etag); });
  }
  absl::Status PurgeStudy(storage::StudyKey study) override {
    return Late([&] { return below_->PurgeStudy(study); });
  }
  absl::Status InsertTrial(const storage::TrialRow& trial) override {
    return Late([&] { return below_->InsertTrial(trial); });
  }
  absl::Status UpdateTrial(const storage::TrialRow& trial,
                           const storage::TrialGuard& guard) override {
    return Late([&] { return below_->UpdateTrial(trial, guard); });
  }
  absl::Status PutAttempt(const storage::AttemptRow& attempt) override {
    return Late([&] { return below_->PutAttempt(attempt); });
  }
  absl::Status AddMeasurements(
      const std::vector<storage::MeasurementRow>& rows) override {
    return Late([&] { return below_->AddMeasurements(rows); });
  }
  absl::Status PutOutcome(const storage::OutcomeRow& outcome) override {
    return Late([&] { return below_->PutOutcome(outcome); });
  }
  absl::Status PutLog(const storage::LogRow& log) override {
    return Late([&] { return below_->PutLog(log); });
  }
  absl::Status PutSummary(const storage::SummaryRow& summary) override {
    return Late([&] { return below_->PutSummary(summary); });
  }
  absl::Status PutBest(const storage::BestRow& best) override {
    return Late([&] { return below_->PutBest(best); });
  }
  absl::Status ForgetWorker(const std::string& id) override {
    return Late([&] { return below_->ForgetWorker(id); });
  }
  absl::Status PutWorker(const storage::WorkerRow& worker) override {
    return Late([&] { return below_->PutWorker(worker); });
  }
  absl::Status RememberReply(const storage::ReplyRow& reply) override {
    return Late([&] { return below_->RememberReply(reply); });
  }
  absl::Status ForgetRepliesBefore(WallMicros time) override {
    return Late([&] { return below_->ForgetRepliesBefore(time); });
  }

  absl::Status Commit() override {
    if (over_) return storage::TransactionIsOver();
    over_ = true;
    if (refused_.ok()) return below_->Commit();
    below_.reset();  // rolls back
    return refused_;
  }

 private:
  absl::Status Late(absl::FunctionRef<absl::Status()> write) {
    if (over_) return storage::TransactionIsOver();
    if (below_ == nullptr) return absl::OkStatus();
    const absl::Status status = write();
    if (!storage::IsDeferrable(status)) return status;
    if (refused_.ok()) refused_ = status;
    return absl::OkStatus();
  }

  std::unique_ptr<storage::Transaction> below_;
  absl::Status refused_;  // the first
  bool over_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<storage::Transaction>> DeferringStore::Begin(
    storage::Epoch epoch) {
  auto begun = store_->Begin(epoch);
  const bool refused = HasErrorId(begun.status(), ErrorId::kNotLeader);
  if (!begun.ok() && !refused) return begun.status();
  return std::make_unique<DeferringTransaction>(std::move(begun));
}

}  // namespace frostline::test
