// SPDX-License-Identifier: Apache-2.0
//
// File: counting_store.h
//
// A transaction of a store that finds at the commit that there is no room.
#ifndef FROSTLINE_TESTS_SERVER_COUNTING_STORE_H_
#define FROSTLINE_TESTS_SERVER_COUNTING_STORE_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/contract/forwarding_store.h"

namespace frostline::server {

class FullTransaction final : public test::ForwardingTransaction {
 public:
  using ForwardingTransaction::ForwardingTransaction;

  absl::Status Commit() override {
    RollBack();
    return MakeError(ErrorId::kStoreFull, "no room for the log", "make room");
  }
};

// A store that counts what is read of trials, and what of anything is read on
// the thread that writes; it can hold readers of trials back, and be full.
// Everything else is the store's below it.
class CountingStore final : public test::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  // Since the last call.
  std::int64_t TakeReads() { return reads_.exchange(0); }
  std::int64_t TakeRows() { return rows_.exchange(0); }
  std::int64_t TakeSteps() { return steps_.exchange(0); }

  // Returns how often a thread read anything while it had a transaction open,
  // and counts anew.
  std::int64_t TakeReadsByWriter() { return reads_by_writer_.exchange(0); }

  std::int64_t TakeBegins() { return begins_.exchange(0); }
  // A full one takes writes, and finds no room for them at the commit.
  void SetFull(bool is_full) { is_full_ = is_full; }

  // Until LetGo() nobody who reads trials goes on.
  void Hold() { SetHeld(true); }
  void LetGo() { SetHeld(false); }

  absl::StatusOr<std::vector<storage::TrialRow>> ListTrials(
      const storage::TrialQuery& query) const override {
    ++reads_;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return !held_; });
    }
    auto rows = ForwardingStore::ListTrials(query);
    if (rows.ok()) rows_ += static_cast<std::int64_t>(rows->size());
    return rows;
  }
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(
      const storage::MeasurementQuery& query) const override {
    ++steps_;
    return ForwardingStore::ListMeasurements(query);
  }

  absl::StatusOr<std::unique_ptr<storage::Transaction>> Begin(
      storage::Epoch epoch) override {
    writer_ = std::this_thread::get_id();
    ++begins_;
    auto begun = below().Begin(epoch);
    if (!is_full_ || !begun.ok()) return begun;
    return std::make_unique<FullTransaction>(*std::move(begun));
  }

 private:
  void NoteRead() const override {
    if (std::this_thread::get_id() == writer_.load()) ++reads_by_writer_;
  }
  void SetHeld(bool held) {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

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
