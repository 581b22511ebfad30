// SPDX-License-Identifier: Apache-2.0
//
// File: task_pool.h
//
// Threads for work off the commit loop. They start tasks in the order of
// posting.
#ifndef FROSTLINE_SERVER_LOOP_TASK_POOL_H_
#define FROSTLINE_SERVER_LOOP_TASK_POOL_H_

#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "base/mutex.h"

namespace frostline::server {

// Any thread may post.
class TaskPool {
 public:
  TaskPool() = default;
  ~TaskPool() { Stop(); }

  void Start(int threads);
  // Runs what was posted before. Idempotent.
  void Stop();
  void Post(absl::AnyInvocable<void()> task);
  // False when stopping; `task` is unchanged then.
  bool TryPost(absl::AnyInvocable<void()>&& task);
  std::size_t Backlog() const;

 private:
  void Run();

  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<absl::AnyInvocable<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_TASK_POOL_H_
