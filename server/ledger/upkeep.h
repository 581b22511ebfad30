// SPDX-License-Identifier: Apache-2.0
//
// File: upkeep.h
//
// The work that no call asks for. A reader looks for old rows; they are deleted
// in slices of some milliseconds, so that calls come between.
#ifndef FROSTLINE_SERVER_LEDGER_UPKEEP_H_
#define FROSTLINE_SERVER_LEDGER_UPKEEP_H_

#include <optional>
#include <string>
#include <vector>

#include "server/ledger/ledger.h"
#include "server/loop/commit_loop.h"
#include "server/loop/task_pool.h"

namespace frostline::server {

// The part of the coordinator that ends leases and time budgets, watches the
// disk, and deletes old rows. The loop runs it at each turn.
class Upkeep {
 public:
  // Borrows all of its arguments.
  Upkeep(Ledger& ledger, CommitLoop& loop, TaskPool& readers,
         const storage::TrialStore& store, const Clock& clock);

  void Turn(Batch& batch) FROSTLINE_ON_LOOP;
  // Returns the room on the disk when it last looked.
  const storage::DiskRoom& disk() const FROSTLINE_ON_LOOP { return disk_; }

 private:
  void LookAtDisk() FROSTLINE_ON_LOOP;
  void EndDueLeases(Batch& batch) FROSTLINE_ON_LOOP;
  void LookAtTime(Batch& batch) FROSTLINE_ON_LOOP;
  void Sweep() FROSTLINE_ON_LOOP;
  void SweepSlice(Batch& batch) FROSTLINE_ON_LOOP;
  // Forgets workers that were silent for long, a few at a time.
  void ForgetWorkers(Batch& batch) FROSTLINE_ON_LOOP;

  Ledger& ledger_;
  CommitLoop& loop_;
  TaskPool& readers_;
  const storage::TrialStore& store_;
  const Clock& clock_;
  storage::DiskRoom disk_ ABSL_GUARDED_BY(kLoopThread);
  SteadyTime disk_looked_at_ ABSL_GUARDED_BY(kLoopThread){};
  SteadyTime last_turn_ ABSL_GUARDED_BY(kLoopThread){};
  SteadyTime time_looked_at_ ABSL_GUARDED_BY(kLoopThread){};
  WallMicros started_ ABSL_GUARDED_BY(kLoopThread) = 0;
  WallMicros swept_ ABSL_GUARDED_BY(kLoopThread) = 0;
  // What is being deleted: studies first, then replies.
  struct Leftovers {
    std::vector<storage::StudyKey> studies;
    WallMicros replies_before = 0;
  };
  std::optional<Leftovers> leftovers_ ABSL_GUARDED_BY(kLoopThread);
  SteadyTime sliced_ ABSL_GUARDED_BY(kLoopThread){};
  // The last worker that was looked at, while workers are being looked at.
  std::optional<std::string> looked_at_ ABSL_GUARDED_BY(kLoopThread);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_UPKEEP_H_
