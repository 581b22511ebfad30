// SPDX-License-Identifier: Apache-2.0
//
// File: commit_loop.h
//
// The one thread that owns the coordinator's state and the write side of the
// store. Work is posted from anywhere and runs here, in order, several pieces
// to a transaction; what they promise to callers (Batch::Then) is kept only
// when that transaction is on disk. While one group is being synced the next
// one gathers, so the groups grow with the load and nobody waits for a timer.
//
// Failure: when the store is full, or refuses at the commit what it had let
// pass (trial_store.h), the group is undone, all its promises get a retryable
// error and `reload` makes memory equal to the disk again. Any other failure of
// a commit leaves unknown what is on disk, and NOT_LEADER says that another
// coordinator writes there: `fatal` is called, once.
#ifndef FROSTLINE_SERVER_LOOP_COMMIT_LOOP_H_
#define FROSTLINE_SERVER_LOOP_COMMIT_LOOP_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "server/loop/loop_thread.h"
#include "storage/trial_store.h"

namespace frostline::server {

// One group on its way to the disk. Used on the loop's thread only.
class Batch {
 public:
  Batch(storage::TrialStore& store, storage::Epoch epoch)
      : store_(store), epoch_(epoch) {}

  // Shows the compiler that this is the loop's thread, which no other has a
  // batch of. Builds with assertions end when it is not.
  void AssertOnLoop() const ABSL_ASSERT_EXCLUSIVE_LOCK(kLoopThread);

  // Runs `body` so that an error undoes all it wrote. A Write inside a Write is
  // part of the outer one. After a failure of the store itself every Write of
  // the group fails.
  absl::Status Write(
      absl::FunctionRef<absl::Status(storage::Transaction&)> body);

  // `done` is called with OK once the group is on disk, else with the error.
  void Then(absl::AnyInvocable<void(const absl::Status&)> done) {
    promises_.push_back(std::move(done));
  }

  // The loop's: all that was written is on disk when OK.
  absl::Status Commit();
  // The loop's: calls what Then() was given.
  void Settle(const absl::Status& status);

 private:
  friend class CommitLoop;

  storage::TrialStore& store_;
  const storage::Epoch epoch_;
  const std::thread::id maker_ = std::this_thread::get_id();
  std::unique_ptr<storage::Transaction> transaction_;
  storage::Transaction* inside_ = nullptr;
  absl::Status store_error_;
  std::vector<absl::AnyInvocable<void(const absl::Status&)>> promises_;
};

class CommitLoop {
 public:
  using Work = absl::AnyInvocable<void(Batch&)>;

  struct Hooks {
    // After the posted work of each group: timers, and what the work made
    // possible.
    std::function<void(Batch&)> turn;
    // When the next timer is due; nothing: no timer.
    std::function<std::optional<SteadyTime>()> next_due;
    // The group is on disk.
    std::function<void()> committed;
    std::function<void()> reload;
    std::function<void(const absl::Status&)> fatal;
  };

  CommitLoop(storage::TrialStore& store, const Clock& clock, Hooks hooks);
  ~CommitLoop() { Stop(); }

  // Writes in this epoch: what the store's TakeLead() returned before memory
  // was loaded.
  void Start(storage::Epoch epoch);
  // False once the loop is stopping; the work is then destroyed unrun.
  bool Post(Work work);
  // Pieces of work that wait. Any thread.
  std::size_t Backlog() const;
  // Runs what was posted before, then ends the thread. Idempotent.
  void Stop();

 private:
  void Run();
  std::vector<Work> Gather() FROSTLINE_ON_LOOP;
  void RunGroup(std::vector<Work> works) FROSTLINE_ON_LOOP;

  storage::TrialStore& store_;
  const Clock& clock_;
  const Hooks hooks_;
  storage::Epoch epoch_ = 0;  // set before the thread begins
  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<Work> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool dead_ ABSL_GUARDED_BY(kLoopThread) = false;  // after a fatal failure
  std::thread thread_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_COMMIT_LOOP_H_
