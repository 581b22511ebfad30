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
  pid_t pid = -1;
  int in = -1;
  int out = -1;
  int err = -1;
};

// Runs /bin/sh -c `script` in its own process group, with default signals, no
// other file descriptors, and SIGKILL when the calling thread ends. From then
// on this process ignores SIGPIPE, as the child may go at any time. Returns
// TRAINER_START when the system has no more processes or files.
absl::StatusOr<Spawned> SpawnShell(const std::string& script,
                                   const std::vector<std::string>& environment);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_SPAWN_H_
