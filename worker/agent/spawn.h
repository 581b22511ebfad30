// SPDX-License-Identifier: Apache-2.0
//
// File: spawn.h
#ifndef FROSTLINE_WORKER_AGENT_SPAWN_H_
#define FROSTLINE_WORKER_AGENT_SPAWN_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace frostline::agent {

// Our ends of the pipes are non-blocking and closed on exec.
struct Spawned {
  pid_t guardian = -1;  // our child
  pid_t trainer = -1;   // its child
  int in = -1;
  int out = -1;
  int err = -1;
  int orders = -1;  // to the guardian; closing it kills the trainer
  int words = -1;   // of the guardian
};

// Runs /bin/sh -c `script` below a guardian (guardian.h) in its own process
// group, with default signals (SIGUSR1 and SIGUSR2 are ignored: schedulers send
// them to whole jobs) and no other file descriptors. It and all that comes from
// it end when this process does. From then on this process ignores
// SIGPIPE, as the child may go at any time. Returns TRAINER_START when the
// system has no more processes or files.
absl::StatusOr<Spawned> SpawnShell(const std::string& script,
                                   const std::vector<std::string>& environment);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_SPAWN_H_
