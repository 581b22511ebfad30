// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint_hook.h
//
// The checkpoint hook is a program of the site that copies checkpoints between
// nodes that share no file system:
//
//   HOOK save  KEY PATH    copies the file or folder PATH to a place called KEY
//   HOOK fetch KEY PATH    copies it from there to PATH, which is not there yet
//
// KEY is "STUDY/TRIAL/ATTEMPT/NAME". HOOK is run without a shell, with default
// signals; its output goes to the agent's log.
// Exit code 0 means that the copy is complete.
#ifndef FROSTLINE_WORKER_AGENT_PROCESS_CHECKPOINT_HOOK_H_
#define FROSTLINE_WORKER_AGENT_PROCESS_CHECKPOINT_HOOK_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/clock.h"

namespace frostline::agent {

// The site's hook and how long it may run.
struct CheckpointHook {
  std::string program;  // a path; empty: there is none
  Duration limit{};     // then it is killed, with its process group

  // Run the hook and wait for its end. They ask `hurries` ten times a second,
  // on the caller's thread, and kill the hook when it returns true. The error
  // is TRAINER_START when the hook cannot be run, fails or is killed. What
  // Fetch() leaves at `path` is complete: the hook writes to "PATH.part".
  absl::Status Save(const std::string& key, const std::string& path,
                    absl::FunctionRef<bool()> hurries) const;
  absl::Status Fetch(const std::string& key, const std::string& path,
                     absl::FunctionRef<bool()> hurries) const;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROCESS_CHECKPOINT_HOOK_H_
