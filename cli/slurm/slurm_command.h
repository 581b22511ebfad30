// SPDX-License-Identifier: Apache-2.0
//
// File: slurm_command.h
#ifndef FROSTLINE_CLI_SLURM_SLURM_COMMAND_H_
#define FROSTLINE_CLI_SLURM_SLURM_COMMAND_H_

#include "cli/commands/command.h"

namespace frostline::cli {

// Adds `frostline slurm` with its verbs.
void AddSlurmCommands(CLI::App& app, Invocation& invocation);

void AddSlurmUp(CLI::App& noun, Invocation& invocation);
void AddSlurmScale(CLI::App& noun, Invocation& invocation);
void AddSlurmDrain(CLI::App& noun, Invocation& invocation);
void AddSlurmStatus(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_SLURM_COMMAND_H_
