// SPDX-License-Identifier: Apache-2.0
#include "server/loop/commit_loop.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error.h"
#include "base/failpoint.h"
#include "storage/trial_store.h"

namespace frostline::server {
namespace {

constexpr std::size_t kLargestGroup = 256;
// So much of each urgency fits into a group, so that none waits for ever.
constexpr std::size_t kLeastOfEach = kLargestGroup / 16;
// The longest wait, so that time that passed in a suspend, or a clock that a
// test moves by hand, is noticed soon.
constexpr auto kLongestNap = std::chrono::milliseconds(50);

// How often the store is tended, whether or not anything is written.
constexpr Duration kTendEvery = std::chrono::milliseconds(500);

}  // namespace

CommitLoop::CommitLoop(storage::TrialStore& store, const Clock& clock,
                       Hooks hooks)
    : store_(store), clock_(clock), hooks_(std::move(hooks)) {}

void CommitLoop::Start(storage::Epoch epoch) {
  epoch_ = epoch;
  thread_ = std::thread([this] { Run(); });
}

bool CommitLoop::Post(Work work, Urgency urgency) {
  {
    const MutexLock lock(&mutex_);
    if (stopping_) return false;
    queues_[static_cast<std::size_t>(urgency)].push_back(std::move(work));
  }
  wake_.Signal();
  return true;
}

std::size_t CommitLoop::Backlog(Urgency urgency) const {
  const MutexLock lock(&mutex_);
  return Waiting(0, static_cast<std::size_t>(urgency));
}

std::size_t CommitLoop::BacklogOf(Urgency urgency) const {
  const MutexLock lock(&mutex_);
  const auto at = static_cast<std::size_t>(urgency);
  return Waiting(at, at);
}

std::size_t CommitLoop::Waiting(std::size_t first, std::size_t last) const {
  std::size_t waiting = 0;
  for (std::size_t i = first; i <= last; ++i) waiting += queues_[i].size();
  return waiting;
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
      if (works.empty() && stopping_ && Waiting(0, kUrgencies - 1) == 0) {
        return;
      }
    }
    const SteadyTime begun = clock_.Steady();
    RunGroup(std::move(works));
    counts_.busy_us.Add((clock_.Steady() - begun) /
                        std::chrono::microseconds(1));
  }
}

std::vector<CommitLoop::Work> CommitLoop::Gather() {
  Duration nap = kLongestNap;
  const std::optional<SteadyTime> due = hooks_.next_due();
  // What is due cannot be done while the store pauses.
  if (due.has_value() && pause_.WhyNot(clock_.Steady()).ok()) {
    nap = std::clamp<Duration>(*due - clock_.Steady(), Duration::zero(),
                               kLongestNap);
  }
  if (more_to_tend_) nap = Duration::zero();
  const MutexLock lock(&mutex_);
  const auto until = std::chrono::steady_clock::now() + nap;
  while (Waiting(0, kUrgencies - 1) == 0 && !stopping_) {
    if (!wake_.WaitUntil(&mutex_, until)) break;
  }
  std::vector<Work> works;
  for (std::size_t i = 0; i < kUrgencies; ++i) {
    std::size_t kept = 0;  // for those that are less urgent
    for (std::size_t later = i + 1; later < kUrgencies; ++later) {
      kept += std::min(queues_[later].size(), kLeastOfEach);
    }
    while (!queues_[i].empty() && works.size() + kept < kLargestGroup) {
      works.push_back(std::move(queues_[i].front()));
      queues_[i].pop_front();
    }
  }
  return works;
}

// Tends the store now and then. If the store needs more of that, each later
// turn tends it again.
void CommitLoop::Tend(Batch& batch) {
  const SteadyTime now = clock_.Steady();
  if (now - tended_ < kTendEvery && !more_to_tend_) return;
  tended_ = now;
  const absl::StatusOr<bool> more = store_.Tend();
  more_to_tend_ = more.ok() && *more;
  // An error that may pass will show in the next group, if it stays.
  if (!more.ok() && !IsUndone(more.status())) {
    batch.store_error_ = more.status();
  }
}

absl::Status CommitLoop::Commit(Batch& batch, std::size_t works) {
  if (batch.transaction_ == nullptr) return batch.Commit();
  const SteadyTime begun = clock_.Steady();
  absl::Status status = batch.Commit();
  counts_.commit_seconds.Observe(clock_.Steady() - begun);
  counts_.group_size.Observe(static_cast<double>(works));
  return status;
}

void CommitLoop::RunGroup(std::vector<Work> works) {
  Batch batch(store_, epoch_);
  batch.paused_ = pause_.WhyNot(clock_.Steady());
  if (dead_) {
    batch.store_error_ =
        MakeError(ErrorId::kCoordinatorDraining, "the store has failed",
                  "wait for the coordinator to be started again");
  } else if (works.empty() || clock_.Steady() - tended_ >= kTendEvery) {
    Tend(batch);
  }
  FROSTLINE_FAILPOINT(kCommitBegin);
  for (Work& work : works) {
    ++batch.work_;
    work(batch);
  }
  batch.work_ = 0;
  hooks_.turn(batch);
  const bool wrote = batch.transaction_ != nullptr;
  absl::Status status = Commit(batch, works.size());
  if (status.ok()) {
    if (wrote) pause_.Stored();
    hooks_.committed();
  } else if (storage::IsDeferrable(status)) {
    counts_.undone.Add();
    hooks_.reload();
    status = storage::GroupUndone(status);
  } else if (IsUndone(status)) {
    counts_.undone.Add();
    hooks_.undo();
    pause_.Refused(status, clock_.Steady());
  } else if (!dead_) {
    dead_ = true;
    hooks_.fatal(status);
  }
  batch.Settle(status);
}

// A group's writes and promises.

namespace {

bool IsStoreFailure(const absl::Status& status) {
  return IsUndone(status) || HasErrorId(status, ErrorId::kStoreIo) ||
         HasErrorId(status, ErrorId::kStoreCorrupt) ||
         HasErrorId(status, ErrorId::kStoreUnwritable) ||
         HasErrorId(status, ErrorId::kStoreRemoved) ||
         HasErrorId(status, ErrorId::kNotLeader);
}

}  // namespace

bool IsUndone(const absl::Status& committed) {
  return HasErrorId(committed, ErrorId::kStoreFull) ||
         HasErrorId(committed, ErrorId::kStoreBusy);
}

void Batch::AssertOnLoop() const {
  assert(std::this_thread::get_id() == maker_ && "not the loop's thread");
}

absl::Status Batch::Write(
    absl::FunctionRef<absl::Status(storage::Transaction&)> body) {
  AssertOnLoop();
  if (inside_ != nullptr && store_error_.ok()) return body(*inside_);
  ++writes_;
  RETURN_IF_ERROR(store_error_);
  if (!paused_.ok()) {
    refused_.insert(work_);
    return paused_;
  }
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
  refused_.erase(0);  // who waits for the turn asked for no write in it
  for (Promise& promise : promises_) {
    const bool refused = status.ok() && refused_.contains(promise.work);
    promise.done(refused ? paused_ : status);
    FROSTLINE_FAILPOINT(kReplyHalf);
  }
  promises_.clear();
}

}  // namespace frostline::server
