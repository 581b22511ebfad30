// SPDX-License-Identifier: Apache-2.0
//
// File: strand.h
//
// Runs tasks one at a time in the order of posting, on a pool that strands
// share. What only they touch needs no lock. Any thread may post.
#ifndef FROSTLINE_SERVER_LOOP_STRAND_H_
#define FROSTLINE_SERVER_LOOP_STRAND_H_

#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "base/mutex.h"
#include "server/loop/task_pool.h"

namespace frostline::server {

// Tasks that are still to run keep the strand alive.
class Strand : public std::enable_shared_from_this<Strand> {
 public:
  // The pool outlives the last task.
  explicit Strand(TaskPool& pool) : pool_(pool) {}
  virtual ~Strand() = default;

  void Post(absl::AnyInvocable<void()> task);

 private:
  // Runs one task, then lets others of the pool run.
  void RunOne();

  TaskPool& pool_;
  Mutex mutex_;
  std::deque<absl::AnyInvocable<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool scheduled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_STRAND_H_
