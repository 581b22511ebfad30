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
// the rest (orphans.h). Who kills both within a second may leave what is in a
// session of its own.
#ifndef FROSTLINE_WORKER_AGENT_GUARDIAN_H_
#define FROSTLINE_WORKER_AGENT_GUARDIAN_H_

#include <sys/types.h>

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

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_GUARDIAN_H_
