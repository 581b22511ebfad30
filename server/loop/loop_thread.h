// SPDX-License-Identifier: Apache-2.0
//
// File: loop_thread.h
//
// Clang's -Wthread-safety follows the commit loop's thread like a lock (`./dev
// check`): what says FROSTLINE_ON_LOOP is called where the caller is known to
// be that thread. A function object on its way there shows its batch, which
// only the loop has, or carries the mark itself.
//
//   std::set<storage::StudyKey> changed_ ABSL_GUARDED_BY(kLoopThread);
//   StudyBook* Find(storage::StudyKey study) FROSTLINE_ON_LOOP;
//   loop.Post([this](Batch& batch) { batch.AssertOnLoop(); Find(1); });
//
// It is a role: coordinators of one process share it.
#ifndef FROSTLINE_SERVER_LOOP_LOOP_THREAD_H_
#define FROSTLINE_SERVER_LOOP_LOOP_THREAD_H_

#include "absl/base/thread_annotations.h"

namespace frostline::server {

class ABSL_LOCKABLE LoopThread{};
inline constexpr LoopThread kLoopThread;

#define FROSTLINE_ON_LOOP \
  ABSL_EXCLUSIVE_LOCKS_REQUIRED(::frostline::server::kLoopThread)

// While it lives, its thread plays the role: the loop's own, or the one that
// fills memory before the loop runs.
class ABSL_SCOPED_LOCKABLE AsLoopThread {
 public:
  AsLoopThread() ABSL_EXCLUSIVE_LOCK_FUNCTION(kLoopThread) {}
  ~AsLoopThread() ABSL_UNLOCK_FUNCTION() {}
  AsLoopThread(const AsLoopThread&) = delete;
  AsLoopThread& operator=(const AsLoopThread&) = delete;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_LOOP_THREAD_H_
