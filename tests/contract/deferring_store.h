// SPDX-License-Identifier: Apache-2.0
//
// File: deferring_store.h
//
// A store that keeps every refusal for the commit that trial_store.h lets it
// keep, as one that is a network away would. Everything else is the store's
// below it.
#ifndef FROSTLINE_TESTS_CONTRACT_DEFERRING_STORE_H_
#define FROSTLINE_TESTS_CONTRACT_DEFERRING_STORE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "storage/trial_store.h"

namespace frostline::test {

class DeferringStore final : public storage::TrialStore {
 public:
  explicit DeferringStore(std::unique_ptr<storage::TrialStore> store)
      : store_(std::move(store)) {}

  // For what happens behind a coordinator's back.
  storage::TrialStore& below() { return *store_; }

  absl::StatusOr<std::unique_ptr<storage::Transaction>> Begin(
      storage::Epoch epoch) override;

  absl::StatusOr<storage::Epoch> TakeLead() override {
    return store_->TakeLead();
  }
  absl::StatusOr<storage::Epoch> FindLead() const override {
    return store_->FindLead();
  }
  absl::StatusOr<storage::StudyRow> FindStudy(
      const std::string& id) const override {
    return store_->FindStudy(id);
  }
  absl::StatusOr<std::vector<storage::StudyRow>> ListStudies(
      const storage::StudyQuery& query) const override {
    return store_->ListStudies(query);
  }
  absl::StatusOr<storage::TrialRow> FindTrial(
      storage::StudyKey study, std::int64_t number) const override {
    return store_->FindTrial(study, number);
  }
  absl::StatusOr<std::vector<storage::TrialRow>> ListTrials(
      const storage::TrialQuery& query) const override {
    return store_->ListTrials(query);
  }
  absl::StatusOr<std::vector<storage::AttemptRow>> ListAttempts(
      storage::StudyKey study, std::int64_t number) const override {
    return store_->ListAttempts(study, number);
  }
  absl::StatusOr<std::vector<storage::AttemptRow>> ListGranted(
      const std::string& request_id) const override {
    return store_->ListGranted(request_id);
  }
  absl::StatusOr<std::vector<storage::SummaryRow>> ListSummaries(
      storage::StudyKey after, int limit) const override {
    return store_->ListSummaries(after, limit);
  }
  absl::StatusOr<std::vector<storage::BestRow>> ListBest(
      storage::StudyKey study, std::int64_t after, int limit) const override {
    return store_->ListBest(study, after, limit);
  }
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(
      const storage::MeasurementQuery& query) const override {
    return store_->ListMeasurements(query);
  }
  absl::StatusOr<std::optional<storage::OutcomeRow>> FindOutcome(
      storage::StudyKey study, std::int64_t number) const override {
    return store_->FindOutcome(study, number);
  }
  absl::StatusOr<std::optional<storage::LogRow>> FindLog(
      storage::StudyKey study, std::int64_t number,
      std::int64_t attempt) const override {
    return store_->FindLog(study, number, attempt);
  }
  absl::StatusOr<std::vector<storage::WorkerRow>> ListWorkers(
      const std::string& after, int limit) const override {
    return store_->ListWorkers(after, limit);
  }
  absl::StatusOr<std::optional<storage::ReplyRow>> FindReply(
      const std::string& request_id) const override {
    return store_->FindReply(request_id);
  }
  storage::DiskRoom RoomLeft() const override { return store_->RoomLeft(); }
  absl::StatusOr<bool> Tend() override { return store_->Tend(); }
  std::vector<WallMicros> NoteStart(WallMicros now) override {
    return store_->NoteStart(now);
  }
  absl::StatusOr<storage::BackupReport> Backup(
      const std::string& path) const override {
    return store_->Backup(path);
  }
  std::string Describe() const override {
    return absl::StrCat("deferring ", store_->Describe());
  }

 private:
  const std::unique_ptr<storage::TrialStore> store_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_CONTRACT_DEFERRING_STORE_H_
