// SPDX-License-Identifier: Apache-2.0
//
// File: counting_store.h
//
// A store that counts what is read of trials, and what of anything is read on
// the thread that writes; it can hold readers of trials back, and be full.
// Everything else is the store's below it.
#ifndef FROSTLINE_TESTS_SERVER_COUNTING_STORE_H_
#define FROSTLINE_TESTS_SERVER_COUNTING_STORE_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/trial_store.h"
#include "tests/server/full_transaction.h"

namespace frostline::server {

class CountingStore final : public storage::TrialStore {
 public:
  explicit CountingStore(std::unique_ptr<storage::TrialStore> store)
      : store_(std::move(store)) {}

  // Since the last call.
  std::int64_t TakeReads() { return reads_.exchange(0); }
  std::int64_t TakeRows() { return rows_.exchange(0); }
  std::int64_t TakeSteps() { return steps_.exchange(0); }

  // Of anything, by the thread that has begun a transaction.
  std::int64_t TakeReadsByWriter() { return reads_by_writer_.exchange(0); }

  std::int64_t TakeBegins() { return begins_.exchange(0); }
  // A full one takes writes, and finds no room for them at the commit.
  void SetFull(bool is_full) { is_full_ = is_full; }

  // Until LetGo() nobody who reads trials goes on.
  void Hold() { SetHeld(true); }
  void LetGo() { SetHeld(false); }

  absl::StatusOr<std::vector<storage::TrialRow>> ListTrials(
      const storage::TrialQuery& query) const override {
    Note();
    ++reads_;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return !held_; });
    }
    auto rows = store_->ListTrials(query);
    if (rows.ok()) rows_ += static_cast<std::int64_t>(rows->size());
    return rows;
  }
  absl::StatusOr<std::vector<storage::AttemptRow>> ListGranted(
      const std::string& request_id) const override {
    Note();
    return store_->ListGranted(request_id);
  }
  absl::StatusOr<std::vector<storage::SummaryRow>> ListSummaries(
      storage::StudyKey after, int limit) const override {
    Note();
    return store_->ListSummaries(after, limit);
  }
  absl::StatusOr<std::vector<storage::BestRow>> ListBest(
      storage::StudyKey study, std::int64_t after, int limit) const override {
    Note();
    return store_->ListBest(study, after, limit);
  }
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(
      const storage::MeasurementQuery& query) const override {
    Note();
    ++steps_;
    return store_->ListMeasurements(query);
  }

  absl::StatusOr<storage::Epoch> TakeLead() override {
    return store_->TakeLead();
  }
  absl::StatusOr<storage::Epoch> FindLead() const override {
    return store_->FindLead();
  }
  absl::StatusOr<std::unique_ptr<storage::Transaction>> Begin(
      storage::Epoch epoch) override {
    writer_ = std::this_thread::get_id();
    ++begins_;
    auto begun = store_->Begin(epoch);
    if (!is_full_ || !begun.ok()) return begun;
    return std::make_unique<FullTransaction>(*std::move(begun));
  }
  absl::StatusOr<storage::StudyRow> FindStudy(
      const std::string& id) const override {
    Note();
    return store_->FindStudy(id);
  }
  absl::StatusOr<std::vector<storage::StudyRow>> ListStudies(
      const storage::StudyQuery& query) const override {
    Note();
    return store_->ListStudies(query);
  }
  absl::StatusOr<storage::TrialRow> FindTrial(
      storage::StudyKey study, std::int64_t number) const override {
    Note();
    return store_->FindTrial(study, number);
  }
  absl::StatusOr<std::vector<storage::AttemptRow>> ListAttempts(
      storage::StudyKey study, std::int64_t number) const override {
    Note();
    return store_->ListAttempts(study, number);
  }
  absl::StatusOr<std::optional<storage::OutcomeRow>> FindOutcome(
      storage::StudyKey study, std::int64_t number) const override {
    Note();
    return store_->FindOutcome(study, number);
  }
  absl::StatusOr<std::optional<storage::LogRow>> FindLog(
      storage::StudyKey study, std::int64_t number,
      std::int64_t attempt) const override {
    Note();
    return store_->FindLog(study, number, attempt);
  }
  absl::StatusOr<std::vector<storage::WorkerRow>> ListWorkers(
      const std::string& after, int limit) const override {
    Note();
    return store_->ListWorkers(after, limit);
  }
  absl::StatusOr<std::optional<storage::ReplyRow>> FindReply(
      const std::string& request_id) const override {
    Note();
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
  std::string Describe() const override { return store_->Describe(); }

 private:
  void Note() const {
    if (std::this_thread::get_id() == writer_.load()) ++reads_by_writer_;
  }
  void SetHeld(bool held) {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

  const std::unique_ptr<storage::TrialStore> store_;
  mutable std::atomic<std::int64_t> reads_ = 0;  // calls of ListTrials
  mutable std::atomic<std::int64_t> rows_ = 0;
  mutable std::atomic<std::int64_t> steps_ = 0;  // calls of ListMeasurements
  mutable std::atomic<std::int64_t> reads_by_writer_ = 0;
  std::atomic<std::int64_t> begins_ = 0;  // transactions
  std::atomic<bool> is_full_ = false;
  std::atomic<std::thread::id> writer_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool held_ = false;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_COUNTING_STORE_H_
