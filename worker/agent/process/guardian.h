// SPDX-License-Identifier: Apache-2.0
//
// File: guardian.h
//
// A guardian is a process between the agent and a trainer. It is needed because
// the kernel does not tell a grandchild that the agent was killed:
//
//   agent ──orders──> guardian ──> trainer (leads a group) ──> its children
//         <──words───
//
// The guardian is the subreaper of all processes that come from the trainer: if
// the parent of one ends, it becomes the guardian's child, whatever session or
// group it is in. When the trainer ends, on kKill, or when the pipe of orders
// closes because the agent is gone, the guardian kills its children, and those
// that become its children then, until it has none. Then it exits. So its end
// says that no process of the trainer lives. It waits for a process that
// SIGKILL does not end.
//
// If somebody kills the guardian, the kernel kills the trainer, and the agent
// kills the rest. If somebody kills guardian and agent within a second,
// processes in a session of their own may stay.
#ifndef FROSTLINE_WORKER_AGENT_PROCESS_GUARDIAN_H_
#define FROSTLINE_WORKER_AGENT_PROCESS_GUARDIAN_H_

#include <sys/types.h>

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "base/mutex.h"

namespace frostline::agent {

enum class GuardianOrder : char { kTerminate = 'T', kKill = 'K' };

// What a guardian says, in one write each.
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

// What a guardian starts its trainer with.
struct GuardedTrainer {
  int in, out, err;        // the trainer's ends of the pipes
  char* const* arguments;  // of /bin/sh
  char* const* variables;
};

// Runs a guardian; never returns. It is called in a child just forked, with all
// signals blocked. Other threads may have held any lock at the fork, so it
// makes only calls that are safe then. Both descriptors are non-blocking and
// belong to it alone.
[[noreturn]] void Guard(const GuardedTrainer& trainer, int orders, int words);

// Calls `see` for each child of this process, also for those that have ended
// and were not waited for yet. Until a child is waited for, no other process
// gets its number. The children are read from /proc: a subreaper
// (PR_SET_CHILD_SUBREAPER) also has children that it did not fork. It allocates
// nothing and takes no lock, so that a process just forked may call it.
void ForEachChild(void (*see)(pid_t child, void* context), void* context);

// The work of a guardian once its trainer runs: it obeys orders, waits for
// children that end, and kills those that are left at the end. It runs in a
// process just forked, so it allocates nothing and takes no lock.
class GuardianLoop {
 public:
  // `ends` is a descriptor that is readable when a child has ended.
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

// The guardians that this process has started, and the orphans of those that
// somebody killed. When a guardian is killed, the kernel kills its trainer, and
// whatever came from the trainer becomes a child of this process, the
// subreaper. All that this process starts goes through Fork(), so any other
// child is such an orphan, and is killed. Any thread may call.
class Orphans {
 public:
  // Returns the one of this process, which adopts orphans from the first call
  // on.
  static Orphans& Ours();

  // Starts a guardian, or a hook, with `fork`, which returns what fork(2) does.
  pid_t Fork(absl::FunctionRef<pid_t()> fork);
  // Calls waitpid(2) for what Fork() started, and forgets it if it has ended.
  pid_t Collect(pid_t guardian, int* status, int options);

  // Kills the orphans that are there now. Returns one of them, or 0 if there
  // was none. Their own children become orphans then: call it until it returns
  // 0.
  pid_t Kill();
  // Does the same if a guardian was killed and its owner, busy with other
  // things, has not noticed. It waits for nothing.
  void Look();

 private:
  Orphans();
  pid_t KillAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::set<pid_t> guardians_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROCESS_GUARDIAN_H_
