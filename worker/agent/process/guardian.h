// SPDX-License-Identifier: Apache-2.0
//
// File: guardian.h
//
// A process of its own stands between the agent and a trainer, since no signal
// of the kernel's tells a grandchild that the agent was killed:
//
//   agent ──orders──> guardian ──> trainer (leads a group) ──> its children
//         <──words───
//
// It is the subreaper of all that comes from the trainer: a process whose
// parent ended becomes its child, whatever session or group it is in. When the
// trainer ends, on kKill, and when the pipe of orders closes because the agent
// is gone, it kills its children, and those that become its children then,
// until it has none; then it exits. So its end says that no process of the
// trainer's lives. One that SIGKILL does not end is waited for.
// If somebody kills the guardian, the kernel kills the trainer, and the agent
// the rest. Who kills both within a second may leave what is in a
// session of its own.
#ifndef FROSTLINE_WORKER_AGENT_PROCESS_GUARDIAN_H_
#define FROSTLINE_WORKER_AGENT_PROCESS_GUARDIAN_H_

#include <sys/types.h>

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "base/mutex.h"

namespace frostline::agent {

enum class GuardianOrder : char { kTerminate = 'T', kKill = 'K' };

// What it says, in one write each.
struct GuardianWord {
  enum class Kind : int {
    kStarted,    // the trainer's process id
    kNotForked,  // errno
    kEnded,      // the trainer's status, as of wait(2)
    kLives,      // the id of a process, a second after its SIGKILL
  };
  Kind kind;
  int value;
};

struct GuardedTrainer {
  int in, out, err;        // its ends of the pipes
  char* const* arguments;  // of /bin/sh
  char* const* variables;
};

// Called in a child just forked, all signals blocked, where other threads may
// have held any lock: it makes only calls that are safe then. Both descriptors
// are non-blocking and its alone.
[[noreturn]] void Guard(const GuardedTrainer& trainer, int orders, int words);

// Who the children of this process are: /proc tells, as processes that nobody
// here has forked become children of a subreaper (PR_SET_CHILD_SUBREAPER) when
// their own parent ends. It allocates nothing and takes no lock, so that a
// process just forked may call it.
//
// Calls `see` for each child, also for those that have ended and are not
// waited for: until that is done a number is given to no other process.
void ForEachChild(void (*see)(pid_t child, void* context), void* context);

// The work of a guardian once its trainer runs: it obeys orders, reaps whoever
// ends, and kills what is left when its time has come. It runs in a process
// just forked: it allocates nothing and takes no lock.
class GuardianLoop {
 public:
  // `ends` is readable when a child has ended.
  GuardianLoop(pid_t trainer, int orders, int words, int ends)
      : trainer_(trainer), orders_(orders), words_(words), ends_(ends) {}

  // Ends the process when no child is left.
  [[noreturn]] void Run();

 private:
  void Tell(GuardianWord::Kind kind, int value) const;
  void Listen();
  void Obey(char order);
  void Reap();
  void KillChildren();

  const pid_t trainer_;
  int orders_;
  const int words_;
  const int ends_;
  bool ended_ = false;  // the trainer
  bool kills_ = false;
  bool has_children_ = true;
  int rounds_ = 0;
};

// Guardians that this process has started, and what is left when
// somebody kills one: the kernel kills its trainer, and all that came from that
// becomes a child of this process, its subreaper. Who is a child and no
// guardian is such an orphan, since this process forks nothing else, and is
// killed. Any thread may call.
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

#endif  // FROSTLINE_WORKER_AGENT_PROCESS_GUARDIAN_H_
