// SPDX-License-Identifier: Apache-2.0
//
// File: trainer_choice.h
//
// The program of --exec trains, else the frostline-trainer beside this binary,
// with --registry.
#ifndef FROSTLINE_WORKER_AGENT_TRAINER_CHOICE_H_
#define FROSTLINE_WORKER_AGENT_TRAINER_CHOICE_H_

#include <filesystem>

#include "absl/status/status.h"
#include "worker/agent/options.h"

namespace frostline::agent {

// Fills an empty `exec` and makes `registry` absolute, for the trainer's
// $FROSTLINE_REGISTRY. Returns REQUEST_INVALID naming the option when neither
// is given, the registry is no folder or lacks a file, or `programs` has no
// frostline-trainer; TRAINER_SYNTAX, with line and column, of a registry that
// is malformed; TRAINER_START where the program of `exec` is not there.
absl::Status ChooseTrainer(const std::filesystem::path& programs,
                           AgentOptions* options);

// It is empty when the system does not say.
std::filesystem::path FolderOfThisProgram();

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRAINER_CHOICE_H_
