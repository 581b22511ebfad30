// SPDX-License-Identifier: Apache-2.0
//
// File: task_pool.h
//
// Threads beside the loop. A pool should have as many threads as its tasks need
// to make progress, not as many as there are tasks: threads beyond the number
// of cores only compete with each other and with the loop.
#ifndef FROSTLINE_SERVER_LOOP_TASK_POOL_H_
#define FROSTLINE_SERVER_LOOP_TASK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "base/mutex.h"

namespace frostline::server {

// Threads that run tasks in the order of posting. Any thread may post.
class TaskPool {
 public:
  TaskPool() = default;
  ~TaskPool() { Stop(); }

  // Starts the threads. `niceness` is added to that of the process
  // (setpriority(2)), so that other threads go first when cores are short.
  void Start(int threads, int niceness = 0);
  // Adds a thread, up to `most`, when tasks wait and none was begun since the
  // last call. Called now and then, it keeps tasks of hours from holding up
  // tasks of milliseconds. The threads stay until Stop().
  void AddThreadIfStuck(std::size_t most);
  // Runs what was posted before and nothing later, then ends the threads.
  // Idempotent.
  void Stop();
  void Post(absl::AnyInvocable<void()> task);
  // Posts the task. Returns false when the pool is stopping; `task` is then
  // unchanged.
  bool TryPost(absl::AnyInvocable<void()>&& task);
  std::size_t Backlog() const;
  std::size_t threads() const;

 private:
  void Run();
  void AddThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<absl::AnyInvocable<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::int64_t begun_ ABSL_GUARDED_BY(mutex_) = 0;         // number of tasks
  std::int64_t begun_before_ ABSL_GUARDED_BY(mutex_) = 0;  // at the last look
  int niceness_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

// A queue of tasks that run one at a time in the order of posting, on a pool
// that strands share. Data that only these tasks touch needs no lock. Any
// thread may post.
//
// Tasks that are still to run keep the strand alive.
class Strand : public std::enable_shared_from_this<Strand> {
 public:
  // `pool` outlives the last task.
  explicit Strand(TaskPool& pool) : pool_(pool) {}
  virtual ~Strand() = default;

  void Post(absl::AnyInvocable<void()> task);

 private:
  // Runs one task, then lets other tasks of the pool run.
  void RunOne();

  TaskPool& pool_;
  Mutex mutex_;
  std::deque<absl::AnyInvocable<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool scheduled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_TASK_POOL_H_
