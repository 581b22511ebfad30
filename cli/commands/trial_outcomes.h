// SPDX-License-Identifier: Apache-2.0
//
// File: trial_outcomes.h
//
// The verbs `frostline trial confusion`, `trial examples` and `trial
// predictions`.
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_OUTCOMES_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_OUTCOMES_H_

#include "cli/commands/command.h"

namespace frostline::cli {

void AddTrialOutcomes(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_OUTCOMES_H_
