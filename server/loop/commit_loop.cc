// SPDX-License-Identifier: Apache-2.0
#include "server/loop/commit_loop.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error.h"
#include "base/failpoint.h"
#include "base/status_macros.h"
#include "storage/store_errors.h"

namespace frostline::server {
namespace {

constexpr std::size_t kLargestGroup = 256;
// Bounds a wait, so that time that went by in a suspend, or a clock a test
// moves by hand, is noticed soon.
constexpr auto kLongestNap = std::chrono::milliseconds(50);

bool IsStoreFailure(const absl::Status& status) {
  return HasErrorId(status, ErrorId::kStoreFull) ||
         HasErrorId(status, ErrorId::kStoreIo) ||
         HasErrorId(status, ErrorId::kStoreCorrupt) ||
         HasErrorId(status, ErrorId::kStoreBusy) ||
         HasErrorId(status, ErrorId::kNotLeader);
}

}  // namespace

void Batch::AssertOnLoop() const {
  assert(std::this_thread::get_id() == maker_ && "not the loop's thread");
}

absl::Status Batch::Write(
    absl::FunctionRef<absl::Status(storage::Transaction&)> body) {
  AssertOnLoop();
  RETURN_IF_ERROR(store_error_);
  if (inside_ != nullptr) return body(*inside_);
  if (transaction_ == nullptr) {
    auto begun = store_.Begin(epoch_);
    if (!begun.ok()) return store_error_ = begun.status();
    transaction_ = std::move(*begun);
  }
  inside_ = transaction_.get();
  absl::Status status =
      transaction_->Operation([&body, this] { return body(*transaction_); });
  inside_ = nullptr;
  if (IsStoreFailure(status)) store_error_ = status;
  return status;
}

absl::Status Batch::Commit() {
  if (store_error_.ok() && transaction_ != nullptr) {
    FROSTLINE_FAILPOINT(kCommitBefore);
    store_error_ = transaction_->Commit();
    FROSTLINE_FAILPOINT(kCommitAfter);
  }
  transaction_.reset();  // rolls back what was not committed
  return store_error_;
}

void Batch::Settle(const absl::Status& status) {
  FROSTLINE_FAILPOINT(kReplyBefore);
  for (auto& promise : promises_) {
    promise(status);
    FROSTLINE_FAILPOINT(kReplyHalf);
  }
  promises_.clear();
}

CommitLoop::CommitLoop(storage::TrialStore& store, const Clock& clock,
                       Hooks hooks)
    : store_(store), clock_(clock), hooks_(std::move(hooks)) {}

void CommitLoop::Start(storage::Epoch epoch) {
  epoch_ = epoch;
  thread_ = std::thread([this] { Run(); });
}

bool CommitLoop::Post(Work work) {
  {
    const MutexLock lock(&mutex_);
    if (stopping_) return false;
    queue_.push_back(std::move(work));
  }
  wake_.Signal();
  return true;
}

std::size_t CommitLoop::Backlog() const {
  const MutexLock lock(&mutex_);
  return queue_.size();
}

void CommitLoop::Stop() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
  }
  wake_.Signal();
  if (thread_.joinable()) thread_.join();
}

void CommitLoop::Run() {
  const AsLoopThread on_loop;
  while (true) {
    std::vector<Work> works = Gather();
    {
      const MutexLock lock(&mutex_);
      if (works.empty() && stopping_ && queue_.empty()) {
        return;
      }
    }
    RunGroup(std::move(works));
  }
}

std::vector<CommitLoop::Work> CommitLoop::Gather() {
  Duration nap = kLongestNap;
  const std::optional<SteadyTime> due = hooks_.next_due();
  if (due.has_value()) {
    nap = std::clamp<Duration>(*due - clock_.Steady(), Duration::zero(),
                               kLongestNap);
  }
  const MutexLock lock(&mutex_);
  const auto until = std::chrono::steady_clock::now() + nap;
  while (queue_.empty() && !stopping_) {
    if (!wake_.WaitUntil(&mutex_, until)) break;
  }
  std::vector<Work> works;
  while (!queue_.empty() && works.size() < kLargestGroup) {
    works.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return works;
}

void CommitLoop::RunGroup(std::vector<Work> works) {
  Batch batch(store_, epoch_);
  if (dead_) {
    batch.store_error_ =
        MakeError(ErrorId::kCoordinatorDraining, "the store has failed",
                  "wait for the coordinator to be started again");
  }
  FROSTLINE_FAILPOINT(kCommitBegin);
  for (Work& work : works) work(batch);
  hooks_.turn(batch);
  absl::Status status = batch.Commit();
  if (status.ok()) {
    hooks_.committed();
  } else if (storage::IsDeferrable(status)) {
    hooks_.reload();
    status = storage::GroupUndone(status);
  } else if (HasErrorId(status, ErrorId::kStoreFull) ||
             HasErrorId(status, ErrorId::kStoreBusy)) {
    hooks_.reload();
  } else if (!dead_) {
    dead_ = true;
    hooks_.fatal(status);
  }
  batch.Settle(status);
}

}  // namespace frostline::server
