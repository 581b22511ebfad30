// SPDX-License-Identifier: Apache-2.0
//
// File: commit_loop.h
//
// How work is done in groups, each written to disk by one commit. While one
// group is written to disk the next one gathers, so groups grow with the load.
// When even that is not enough, urgent work fills each group except for a share
// that is kept for less urgent work.
//
// Failure: when the store is full or busy, the group is undone: its promises
// get an error that may be retried, and `undo` takes back what the group did in
// memory. For a while the loop then refuses every write at once with the same
// error; work that writes nothing is still answered. When the store refuses at
// the commit what it had accepted before (trial_store.h), `reload` makes all of
// memory equal to the disk. After any other failure nobody knows what is on
// disk, or another coordinator writes there: `fatal` is called once.
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

// The pause after a store had no room. It lasts 100 ms after the first refused
// group and twice as long after each further one, up to 5 s, since each attempt
// costs loading again what the group did in memory.
//
// Not thread-safe.
class StorePause {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(100);
  static constexpr Duration kLongest = std::chrono::seconds(5);

  void Refused(const absl::Status& why, SteadyTime now) {
    why_ = why;
    length_ = std::clamp(2 * length_, kFirst, kLongest);
    until_ = now + length_;
  }
  // Ends the pause: a group was stored.
  void Stored() { *this = StorePause(); }

  // Returns the store's error, or OK when the store may be asked again.
  absl::Status WhyNot(SteadyTime now) const {
    return now < until_ ? why_ : absl::OkStatus();
  }

 private:
  absl::Status why_;
  Duration length_{};
  SteadyTime until_{};
};

// A group of changes on its way to the disk.
class Batch {
 public:
  Batch(storage::TrialStore& store, storage::Epoch epoch)
      : store_(store), epoch_(epoch) {}

  // Asserts, for the compiler too, that this is the loop's thread, since no
  // other thread has a batch.
  void AssertOnLoop() const ABSL_ASSERT_EXCLUSIVE_LOCK(kLoopThread);

  // Runs `body` and undoes all that it wrote when it fails. A Write inside a
  // Write is part of the outer one. After the store has failed, every Write of
  // the group fails, and so does all work posted in it. While the store pauses,
  // `body` does not run, and only the promises of this piece of work fail.
  absl::Status Write(
      absl::FunctionRef<absl::Status(storage::Transaction&)> body);

  // Says whether a Write would run. Whoever changes memory first asks this
  // before.
  bool MayWrite() const { return paused_.ok() && store_error_.ok(); }
  // Returns the number of calls of Write() so far, refused ones included.
  std::int64_t writes() const { return writes_; }

  // Calls `done` with OK once the group is on disk, else with the error.
  void Then(absl::AnyInvocable<void(const absl::Status&)> done) {
    promises_.push_back({work_, std::move(done)});
  }

  absl::Status Commit();
  // Calls all functions that Then() was given.
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
  std::set<std::size_t> refused_;  // pieces that tried to write during a pause
  struct Promise {
    std::size_t work;
    absl::AnyInvocable<void(const absl::Status&)> done;
  };
  std::vector<Promise> promises_;
};

// Says whether a promise's error means that the group was undone and may be
// tried again.
bool IsUndone(const absl::Status& committed);

// What the loop counts. Any thread may read.
struct LoopCounts {
  Histogram group_size{kSizeBounds};  // sizes of groups that wrote
  Histogram commit_seconds;           // durations of commits of such groups
  Counter undone;                     // groups that were undone
  Counter busy_us;                    // microseconds at work
};

// The one thread that changes the coordinator's state. It runs posted work by
// urgency, then in order. The coordinator owns it.
class CommitLoop {
 public:
  using Work = absl::AnyInvocable<void(Batch&)>;

  struct Hooks {
    // Runs after the posted work of each group.
    std::function<void(Batch&)> turn;
    // Returns the latest time at which `turn` has to run; nothing if it need
    // not.
    std::function<std::optional<SteadyTime>()> next_due;
    std::function<void()> committed;
    // Makes memory equal to the disk: only where the group changed it, or
    // everywhere.
    std::function<void()> undo;
    std::function<void()> reload;
    std::function<void(const absl::Status&)> fatal;
  };

  CommitLoop(storage::TrialStore& store, const Clock& clock, Hooks hooks);
  ~CommitLoop() { Stop(); }

  // Starts the thread. `epoch` is from TakeLead(), called before memory was
  // loaded.
  void Start(storage::Epoch epoch);
  // Posts work; work of one urgency runs in order. Any thread may call it.
  // False means that the loop is stopping and the work will not run.
  bool Post(Work work, Urgency urgency = Urgency::kChange);
  // Returns how much work would run before a new piece of this urgency. Any
  // thread may call it.
  std::size_t Backlog(Urgency urgency) const;
  // Returns how much work of this urgency waits. Any thread may call it.
  std::size_t BacklogOf(Urgency urgency) const;
  // Runs what was posted before, then ends the thread. Idempotent.
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
