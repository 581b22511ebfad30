// SPDX-License-Identifier: Apache-2.0
//
// File: strand.h
//
// Tasks that run in the order of posting and one at a time, on the threads of a
// pool that other strands share. What only a strand's tasks touch needs no
// lock.
#ifndef FROSTLINE_SERVER_LOOP_STRAND_H_
#define FROSTLINE_SERVER_LOOP_STRAND_H_

#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "base/mutex.h"
#include "server/loop/task_pool.h"

namespace frostline::server {

// Held by shared_ptr: tasks that are still to run keep it. Any thread may post.
class Strand : public std::enable_shared_from_this<Strand> {
 public:
  // The pool outlives the strand's last task.
  explicit Strand(TaskPool& pool) : pool_(pool) {}
  virtual ~Strand() = default;

  void Post(absl::AnyInvocable<void()> task);

 private:
  // One task, then the pool's others: a busy strand does not starve them.
  void RunOne();

  TaskPool& pool_;
  Mutex mutex_;
  std::deque<absl::AnyInvocable<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool scheduled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_STRAND_H_
