// SPDX-License-Identifier: Apache-2.0
//
// File: task_pool.h
//
// Threads for work off the commit loop. One thread runs its tasks in the order
// of posting; several start them in that order (the proposer's, readers of
// snapshots: lists, curves, importance).
#ifndef FROSTLINE_SERVER_LOOP_TASK_POOL_H_
#define FROSTLINE_SERVER_LOOP_TASK_POOL_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"

namespace frostline {

// Any thread may post. Stop() runs what was posted before it; idempotent.
class TaskPool {
 public:
  TaskPool() = default;
  ~TaskPool() { Stop(); }

  void Start(int threads);
  void Stop();
  void Post(absl::AnyInvocable<void()> task);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<absl::AnyInvocable<void()>> tasks_;  // guarded by mutex_
  bool stopping_ = false;                         // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace frostline

#endif  // FROSTLINE_SERVER_LOOP_TASK_POOL_H_
