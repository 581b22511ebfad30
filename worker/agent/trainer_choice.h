// SPDX-License-Identifier: Apache-2.0
//
// File: trainer_choice.h
//
// Which program trains: the one that --exec names, else frostline-trainer from
// the folder of this binary, with the models and data sets of --registry.
#ifndef FROSTLINE_WORKER_AGENT_TRAINER_CHOICE_H_
#define FROSTLINE_WORKER_AGENT_TRAINER_CHOICE_H_

#include <filesystem>

#include "absl/status/status.h"
#include "worker/agent/options.h"

namespace frostline::agent {

// Fills `exec` where it is empty and makes `registry` absolute, as it becomes
// the trainer's $FROSTLINE_REGISTRY. REQUEST_INVALID naming the option when
// neither is given, when the registry is no folder, and when there is no
// frostline-trainer in `programs`.
absl::Status ChooseTrainer(const std::filesystem::path& programs,
                           AgentOptions* options);

// The folder of the running binary; empty when the system does not say.
std::filesystem::path FolderOfThisProgram();

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRAINER_CHOICE_H_
