// SPDX-License-Identifier: Apache-2.0
//
// File: recipe.h
//
// What the verbs about one recipe share: which recipe, at which scale, with
// what in it, and what there is to run it with.
#ifndef FROSTLINE_CLI_COMMANDS_RECIPE_H_
#define FROSTLINE_CLI_COMMANDS_RECIPE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/process/child_process.h"
#include "cli/process/local_fleet.h"
#include "cli/recipe/recipe_survey.h"

namespace frostline::cli {

struct RecipeArgs {
  std::string name;  // or a file
  std::string scale;
  std::string id;
  std::string model;
  std::string data;
  std::string registry;
  std::vector<std::string> set;  // NAME=VALUE
};

void AddRecipeArgs(CLI::App& verb, RecipeArgs& args);

struct OpenedRecipe {
  Recipe recipe;
  RecipeScale scale;
  RecipeWish wish;
};

// The scale is the recipe's first unless one is named.
absl::StatusOr<OpenedRecipe> OpenWished(const RecipeArgs& args);

struct SurveyedWish {
  RecipeStock stock;
  RecipeSurvey survey;
  bool of_samples = false;  // the stock is what the program carries

  bool can_run() const {
    return survey.missing.empty() && !survey.studies.empty();
  }
};

// Looks in the registry that is named or usual; where there is none, at the
// workers that the coordinator knows, if one answers. Where these lack a
// sample, and it could run on this machine, the program's own serve.
absl::StatusOr<SurveyedWish> SurveyWished(Session& session,
                                          const RecipeArgs& args,
                                          const OpenedRecipe& opened,
                                          bool on_this_machine);

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

#endif  // FROSTLINE_CLI_COMMANDS_RECIPE_H_
