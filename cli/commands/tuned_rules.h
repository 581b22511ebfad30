// SPDX-License-Identifier: Apache-2.0
//
// File: tuned_rules.h
//
// `frostline apply --rivals all`: the rules of the recipe `rivals`, each tuned
// by a rate of its own, in the settings of a study that was searched, and its
// plan beside them.
#ifndef FROSTLINE_CLI_COMMANDS_TUNED_RULES_H_
#define FROSTLINE_CLI_COMMANDS_TUNED_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/process/child_process.h"
#include "cli/recipe/recipe_stage.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// Gives a study of the recipe the data, the model and all settings of the
// searched one, except what makes the rule: its space, and what of a module and
// which layers train. The searched study's space, sampler and trials stay
// behind.
void TakeSettingsOf(const v1::Study& searched, StageStudy& study);

// Returns REQUEST_INVALID where rules cannot be tuned: for a study of several
// tasks, or without a model whose layers are known.
absl::Status CheckHasRules(const v1::StudySpec& spec);

// Tunes the rules in studies whose ids begin with `id`, tells what came of
// them, and sets the plan's trials (with a seed each) against them. `margin` 0
// is the recipe's. Interrupted and called again, it goes on.
absl::StatusOr<ExitCode> TuneRules(Session& session, Client& client,
                                   const v1::Study& searched,
                                   const std::vector<v1::Trial>& plan,
                                   const std::string& id, double margin,
                                   StopSignals& signals);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TUNED_RULES_H_
