// SPDX-License-Identifier: Apache-2.0
//
// File: loop_thread.h
//
// The commit loop's thread as a capability, which clang's -Wthread-safety
// follows like a lock (`./dev check`): what says FROSTLINE_ON_LOOP cannot be
// called where nothing shows that the caller is that thread.
//
//   StudyBook* Find(storage::StudyKey study) FROSTLINE_ON_LOOP;
//   std::set<storage::StudyKey> changed_ ABSL_GUARDED_BY(kLoopThread);
//
// A function object on its way to the loop is out of the compiler's sight. It
// shows its batch, which only the loop has, or carries the mark itself:
//
//   loop.Post([this](Batch& batch) {
//     batch.AssertOnLoop();
//     ledger_.Find(study);
//   });
//
// The capability is a role and not an object: coordinators of one process share
// it, and nothing of it is left at run time.
#ifndef FROSTLINE_SERVER_LOOP_LOOP_THREAD_H_
#define FROSTLINE_SERVER_LOOP_LOOP_THREAD_H_

#include "absl/base/thread_annotations.h"

namespace frostline::server {

class ABSL_LOCKABLE LoopThread{};
inline constexpr LoopThread kLoopThread;

#define FROSTLINE_ON_LOOP \
  ABSL_EXCLUSIVE_LOCKS_REQUIRED(::frostline::server::kLoopThread)

// While it lives, this thread plays the role: the loop's own, or the one that
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
