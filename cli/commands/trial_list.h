// SPDX-License-Identifier: Apache-2.0
//
// File: trial_list.h
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_LIST_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_LIST_H_

#include <CLI/CLI.hpp>

#include "cli/commands/command.h"

namespace frostline::cli {

void AddTrialList(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_LIST_H_
