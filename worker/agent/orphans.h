// SPDX-License-Identifier: Apache-2.0
//
// File: orphans.h
//
// Guardians (guardian.h) that this process has started, and what is left when
// somebody kills one: the kernel kills its trainer, and all that came from that
// becomes a child of this process, its subreaper. Who is a child and no
// guardian is such an orphan, since this process forks nothing else, and is
// killed. Any thread may call.
#ifndef FROSTLINE_WORKER_AGENT_ORPHANS_H_
#define FROSTLINE_WORKER_AGENT_ORPHANS_H_

#include <sys/types.h>

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "base/mutex.h"

namespace frostline::agent {

class Orphans {
 public:
  // Those of this process, which adopts orphans from the first call on.
  static Orphans& Ours();

  // Starts a guardian by `fork`, which answers as fork(2) does.
  pid_t Fork(absl::FunctionRef<pid_t()> fork);
  // Does waitpid(2) for one: its number is no guardian's from then on.
  pid_t Collect(pid_t guardian, int* status, int options);

  // Kills those that are there now, and returns one of them, or 0. What they
  // leave are orphans too: it is to be called until it answers 0.
  pid_t Kill();
  // The same, if a guardian was killed whose owner has not noticed yet, as it
  // does other things. It waits for nothing.
  void Look();

 private:
  Orphans();
  pid_t KillAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::set<pid_t> guardians_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_ORPHANS_H_
