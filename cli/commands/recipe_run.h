// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_run.h
#ifndef FROSTLINE_CLI_COMMANDS_RECIPE_RUN_H_
#define FROSTLINE_CLI_COMMANDS_RECIPE_RUN_H_

#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/commands/recipe.h"
#include "cli/process/local_fleet.h"
#include "cli/process/stop_signals.h"
#include "cli/recipe/recipe_survey.h"

namespace frostline::cli {

// Holds every study against the registry, as `study create` would. Those whose
// model or data is missing are passed over.
absl::Status CheckSurvey(const RecipeSurvey& survey,
                         const std::string& registry);

// Runs each stage of a surveyed recipe at a coordinator: what is there goes on.
class RecipeRunner {
 public:
  // Everything must outlive the runner; `fleet` is null where others run the
  // workers.
  RecipeRunner(const OpenedRecipe& opened, const RecipeSurvey& survey,
               const RecipeStock& stock, Client& client, LocalFleet* fleet,
               StopSignals& signals, const Terminal& terminal);

  // Answers NO_RESULT's exit code where a stage left nothing that can be used.
  absl::StatusOr<ExitCode> Run();

 private:
  bool IsSkipped(const StageStudy& study) const;
  absl::StatusOr<YamlPtr> EarlierValue(const StageStudy& earlier,
                                       const std::string& what);
  absl::StatusOr<ExitCode> RunStage(const RecipeStage& stage);
  absl::StatusOr<v1::Study> Begin(const StageStudy& study);
  absl::StatusOr<v1::Study> Await(v1::Study study);
  absl::StatusOr<ExitCode> Tell(const StageStudy& stage,
                                const v1::Study& study);

  const OpenedRecipe& opened_;
  const RecipeSurvey& survey_;
  Client& client_;
  LocalFleet* const fleet_;
  StopSignals& signals_;
  const Terminal& terminal_;
  StageWorld world_;
  std::vector<StageStudy> earlier_;
};

void AddRecipeRun(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_RECIPE_RUN_H_
