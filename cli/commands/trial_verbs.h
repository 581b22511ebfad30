// SPDX-License-Identifier: Apache-2.0
//
// File: trial_verbs.h
//
// Verbs of `frostline trial`, each in the file of its name.
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_VERBS_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_VERBS_H_

#include "cli/commands/command.h"

namespace frostline::cli {

void AddTrialCurves(CLI::App& noun, Invocation& invocation);
void AddTrialEnqueue(CLI::App& noun, Invocation& invocation);
void AddTrialLabel(CLI::App& noun, Invocation& invocation);  // and note
void AddTrialOutcomeRows(CLI::App& noun, Invocation& invocation);
void AddTrialTell(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_VERBS_H_
