// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_survey.h
//
// A check of a whole recipe before anything runs: the studies of every stage,
// and the models and data sets that are missing. Results of earlier stages are
// replaced by stand-ins.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_SURVEY_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_SURVEY_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/recipe/recipe_stage.h"
#include "worker/registry/registry.h"

namespace frostline::cli {

// Fetches a result of a finished stage for the next ones.
//
// `what` is as in a recipe: "best", "best-2", "best.rate", "plan". If the stage
// left no result, returns TRIALS_TOO_FEW with what to do.
absl::StatusOr<YamlPtr> FetchEarlierValue(Client& client,
                                          const StageStudy& earlier,
                                          const std::string& what);

// The available models and data sets, and what is known about the models.
struct RecipeStock {
  std::string where;  // "the registry registry/", "the coordinator's workers"
  std::set<std::string> models;
  std::set<std::string> data;
  ModelFactsOf model_facts;
  bool of_nobody = false;  // no registry, and no coordinator answers
};

RecipeStock RecipeStockOf(const registry::Registry& registry);

// Returns the facts about `model`: what is known about it, else what the recipe
// says. It has a pooler unless one of them says otherwise.
RecipeValues FactsOf(const Recipe& recipe, const RecipeStock& stock,
                     const std::string& model);

// A model or a data set that is missing.
struct MissingNeed {
  std::string id;
  bool is_model = false;
  std::string stage;  // the first that needs it: "frozen-english"
};

struct SurveyedStudy {
  StageStudy study;
  bool takes_earlier = false;        // some values are stand-ins
  std::vector<MissingNeed> missing;  // for a study that is left out
};

// What of a recipe can run, and what is missing.
struct RecipeSurvey {
  std::vector<SurveyedStudy> studies;  // those that run
  std::vector<SurveyedStudy> skipped;
  std::vector<MissingNeed> missing;  // without them it cannot run; each once
  std::vector<std::string> warnings;
};

absl::StatusOr<RecipeSurvey> SurveyRecipe(const Recipe& recipe,
                                          const RecipeScale& scale,
                                          const RecipeOptions& options,
                                          const RecipeStock& stock);

// Returns for each missing part what it is, where to get it and the command
// that registers it.
std::string DescribeMissing(const Recipe& recipe,
                            const std::vector<MissingNeed>& missing);

// Returns a stand-in for a result that is not known yet: no values for a point,
// and the first possible value for a parameter.
absl::StatusOr<YamlPtr> StandInFor(const StageStudy& earlier,
                                   const std::string& what);

// The registry of the scale `sample`: a model with random weights and a few
// sentences for each task. It is built into the program, so that a recipe can
// be tried without any registered model or data.

inline constexpr char kSampleScale[] = "sample";

struct SampleFile {
  std::string_view path;  // below recipes/samples
  std::string_view content;
};

const std::vector<SampleFile>& SampleFiles();

// Returns the contents of the registry, without writing it.
RecipeStock StockOfSamples();

// Writes the registry, over the one of an earlier run. Returns STORE_UNWRITABLE
// on failure.
absl::Status MakeSampleRegistry(const std::string& folder);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_SURVEY_H_
