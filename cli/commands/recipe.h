// SPDX-License-Identifier: Apache-2.0
//
// File: recipe.h
//
// What the verbs about one recipe share: which recipe, its scale and values,
// and which models and data sets are available.
#ifndef FROSTLINE_CLI_COMMANDS_RECIPE_H_
#define FROSTLINE_CLI_COMMANDS_RECIPE_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/process/child_process.h"
#include "cli/recipe/recipe_survey.h"

namespace frostline::cli {

// The arguments that all verbs about one recipe take.
struct RecipeArgs {
  std::string name;  // the recipe's name, or a file
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
  RecipeOptions options;
};

// Opens the recipe that is asked for. The default scale is the recipe's first.
absl::StatusOr<OpenedRecipe> OpenChosen(const RecipeArgs& args);

struct SurveyedChoice {
  RecipeStock stock;
  RecipeSurvey survey;
  bool of_samples = false;  // the stock is the built-in samples

  bool can_run() const {
    return survey.missing.empty() && !survey.studies.empty();
  }
};

// Looks for models and data sets in the named or usual registry. If there is
// none, it asks the coordinator for those of its workers. If a sample is
// missing there and can run on this machine, it uses the samples that are built
// into the program.
absl::StatusOr<SurveyedChoice> SurveyChosen(Session& session,
                                            const RecipeArgs& args,
                                            const OpenedRecipe& opened,
                                            bool on_this_machine);

// Checks every study against the registry, as `study create` does. It skips
// studies whose model or data set is missing.
absl::Status CheckSurvey(const RecipeSurvey& survey,
                         const std::string& registry);

// A runner for the stages of a surveyed recipe at a coordinator. Studies that
// exist already are continued.
class RecipeRunner {
 public:
  // Everything passed here must outlive the runner. `fleet` is null when the
  // workers are run elsewhere.
  RecipeRunner(const OpenedRecipe& opened, const RecipeSurvey& survey,
               const RecipeStock& stock, Client& client, LocalFleet* fleet,
               StopSignals& signals, const Terminal& terminal);

  // Has `adjust` change each study before it is begun.
  void AdjustWith(std::function<void(StageStudy&)> adjust) {
    adjust_ = std::move(adjust);
  }

  // Runs all stages. Returns the exit code of NO_RESULT when a stage left
  // nothing that later stages can use.
  absl::StatusOr<ExitCode> Run();

 private:
  bool IsSkipped(const StageStudy& study) const;
  // Says whether no worker computes in the study's precision at full speed, as
  // far as workers have said.
  absl::StatusOr<bool> IsSlowHere(const StageStudy& study);
  absl::StatusOr<YamlPtr> EarlierValue(const StageStudy& earlier,
                                       const std::string& what);
  absl::StatusOr<ExitCode> RunStage(const RecipeStage& stage);
  absl::StatusOr<v1::Study> Begin(const StageStudy& study);
  absl::StatusOr<v1::Study> Await(v1::Study study);
  absl::Status Tell(const StageStudy& stage, const v1::Study& study);
  // Whether the others of its stage go on without an entry that left nothing:
  // one that no other is compared with.
  bool CanGoWithout(const StageStudy& study) const;
  // Leaves the entry out of all stages that come, and says why.
  absl::Status GoOnWithout(const StageStudy& study, const v1::Study& ended);

  const OpenedRecipe& opened_;
  const RecipeSurvey& survey_;
  Client& client_;
  LocalFleet* const fleet_;
  StopSignals& signals_;
  const Terminal& terminal_;
  std::function<void(StageStudy&)> adjust_;  // null: they are as they are
  StageWorld world_;
  std::vector<StageStudy> earlier_;
  std::set<std::string> left_out_;              // studies, for their precision
  std::set<std::vector<std::string>> without_;  // entries that left nothing
};

void AddRecipeRun(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_RECIPE_H_
