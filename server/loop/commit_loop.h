// SPDX-License-Identifier: Apache-2.0
//
// File: commit_loop.h
//
// Posted work runs by urgency, then in order. While one group is synced the
// next one gathers, so groups grow with the load. Under more than that, what is
// urgent fills them but for a share of each that is less so.
//
// Failure: when the store is full or busy the group is undone, its promises get
// a retryable error, and `undo` takes back from memory what the group did. For
// a while writes are then refused at once, with the same error
// to whoever wrote alone; who writes nothing is answered. When the store
// refuses at the commit what it had let pass (trial_store.h), `reload` makes
// all of memory equal to the disk. After any other failure nobody knows what is
// on disk, or another coordinator writes there: `fatal` is called, once.
#ifndef FROSTLINE_SERVER_LOOP_COMMIT_LOOP_H_
#define FROSTLINE_SERVER_LOOP_COMMIT_LOOP_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "server/loop/call_context.h"
#include "storage/trial_store.h"

namespace frostline::server {

// Says whether a store that found no room is to be asked again: not for 100 ms
// after it refused a group, then for twice as long each time, up to 5 s. Each
// attempt costs what the group has done in memory, which is loaded again.
//
// It is not thread-safe.
class StorePause {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(100);
  static constexpr Duration kLongest = std::chrono::seconds(5);

  void Refused(const absl::Status& why, SteadyTime now) {
    why_ = why;
    length_ = std::clamp(2 * length_, kFirst, kLongest);
    until_ = now + length_;
  }
  // A group was stored.
  void Stored() { *this = StorePause(); }

  // Returns what the store said, or OK when it may be asked.
  absl::Status WhyNot(SteadyTime now) const {
    return now < until_ ? why_ : absl::OkStatus();
  }

 private:
  absl::Status why_;
  Duration length_{};
  SteadyTime until_{};
};

// A batch is one group on its way to the disk.
class Batch {
 public:
  Batch(storage::TrialStore& store, storage::Epoch epoch)
      : store_(store), epoch_(epoch) {}

  // Asserts, for the compiler too, that this is the loop's thread: no other has
  // a batch.
  void AssertOnLoop() const ABSL_ASSERT_EXCLUSIVE_LOCK(kLoopThread);

  // Undoes all that `body` wrote when it fails. A Write inside a Write is part
  // of the outer one. After a failure of the store every Write of the group
  // fails, and all that is posted in it. While the store pauses, `body` does
  // not run, and the promises of this piece of work fail alone.
  absl::Status Write(
      absl::FunctionRef<absl::Status(storage::Transaction&)> body);

  // Says whether a Write would run. Who changes memory first asks before.
  bool MayWrite() const { return paused_.ok() && store_error_.ok(); }
  // Counts calls of Write() so far, also those that were refused.
  std::int64_t writes() const { return writes_; }

  // Calls `done` with OK once the group is on disk, else with the error.
  void Then(absl::AnyInvocable<void(const absl::Status&)> done) {
    promises_.push_back({work_, std::move(done)});
  }

  absl::Status Commit();
  // Calls what Then() was given.
  void Settle(const absl::Status& status);

 private:
  friend class CommitLoop;

  storage::TrialStore& store_;
  const storage::Epoch epoch_;
  const std::thread::id maker_ = std::this_thread::get_id();
  std::unique_ptr<storage::Transaction> transaction_;
  storage::Transaction* inside_ = nullptr;
  absl::Status store_error_;
  absl::Status paused_;  // why no Write runs
  std::int64_t writes_ = 0;
  std::size_t work_ = 0;           // the piece that runs; 0: the turn
  std::set<std::size_t> refused_;  // pieces that wanted to write in a pause
  struct Promise {
    std::size_t work;
    absl::AnyInvocable<void(const absl::Status&)> done;
  };
  std::vector<Promise> promises_;
};

// Says of a promise's error that the group was undone, and may be tried again.
bool IsUndone(const absl::Status& committed);

struct LoopCounts {
  Histogram group_size{kSizeBounds};  // of groups that wrote
  Histogram commit_seconds;           // the same
  Counter undone;                     // groups
  Counter busy_us;                    // microseconds at work
};

class CommitLoop {
 public:
  using Work = absl::AnyInvocable<void(Batch&)>;

  struct Hooks {
    // Runs after the posted work of each group.
    std::function<void(Batch&)> turn;
    // Says when `turn` is wanted at the latest.
    std::function<std::optional<SteadyTime>()> next_due;
    std::function<void()> committed;
    // Makes memory equal to the disk: where the group changed it, or all.
    std::function<void()> undo;
    std::function<void()> reload;
    std::function<void(const absl::Status&)> fatal;
  };

  CommitLoop(storage::TrialStore& store, const Clock& clock, Hooks hooks);
  ~CommitLoop() { Stop(); }

  // `epoch` is from TakeLead(), before memory was loaded.
  void Start(storage::Epoch epoch);
  // Any thread may call. False means that the loop is stopping: the work does
  // not run. Of one urgency it runs in order.
  bool Post(Work work, Urgency urgency = Urgency::kChange);
  // Counts what would run before a new work of this urgency. Any thread may
  // call.
  std::size_t Backlog(Urgency urgency) const;
  // Counts what waits of this urgency alone. Any thread may call.
  std::size_t BacklogOf(Urgency urgency) const;
  // Runs what was posted before. It is idempotent.
  void Stop();
  const LoopCounts& counts() const { return counts_; }

 private:
  void Run();
  std::vector<Work> Gather() FROSTLINE_ON_LOOP;
  std::size_t Waiting(std::size_t first, std::size_t last) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RunGroup(std::vector<Work> works) FROSTLINE_ON_LOOP;
  absl::Status Commit(Batch& batch, std::size_t works) FROSTLINE_ON_LOOP;
  void Tend(Batch& batch) FROSTLINE_ON_LOOP;

  storage::TrialStore& store_;
  const Clock& clock_;
  const Hooks hooks_;
  storage::Epoch epoch_ = 0;
  mutable Mutex mutex_;
  CondVar wake_;
  static constexpr std::size_t kUrgencies = 3;
  std::array<std::deque<Work>, kUrgencies> queues_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool dead_ ABSL_GUARDED_BY(kLoopThread) = false;  // after a fatal failure
  LoopCounts counts_;
  StorePause pause_ ABSL_GUARDED_BY(kLoopThread);
  SteadyTime tended_ ABSL_GUARDED_BY(kLoopThread){};
  bool more_to_tend_ ABSL_GUARDED_BY(kLoopThread) = false;
  std::thread thread_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_COMMIT_LOOP_H_
