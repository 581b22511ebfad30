// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint_hook.h
//
// A program of the site's carries checkpoints to where its other nodes find
// them, where no file system is shared:
//
//   HOOK save  KEY PATH    copies the file or folder PATH to a place called KEY
//   HOOK fetch KEY PATH    copies it from there to PATH, which is not there yet
//
// KEY is "STUDY/TRIAL/ATTEMPT/NAME". It is run by its words, without a shell,
// with default signals, its output in the agent's log; 0 means done.
#ifndef FROSTLINE_WORKER_AGENT_PROCESS_CHECKPOINT_HOOK_H_
#define FROSTLINE_WORKER_AGENT_PROCESS_CHECKPOINT_HOOK_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/clock.h"

namespace frostline::agent {

struct CheckpointHook {
  std::string program;  // a path; empty: there is none
  Duration limit{};     // then it is killed, with its process group

  // Waits for its end, unless `hurries`, which is asked ten times a second and
  // from the same thread. Both return TRAINER_START where it cannot be run,
  // ends otherwise than with 0, or is ended. What Fetch() leaves at `path` is
  // whole: it goes through "PATH.part".
  absl::Status Save(const std::string& key, const std::string& path,
                    absl::FunctionRef<bool()> hurries) const;
  absl::Status Fetch(const std::string& key, const std::string& path,
                     absl::FunctionRef<bool()> hurries) const;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROCESS_CHECKPOINT_HOOK_H_
