// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_survey.h
//
// Reads a recipe as a run would, before anything runs: every stage's studies,
// and which models and data sets nobody has. What a stage takes of an earlier
// one has a stand-in.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_SURVEY_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_SURVEY_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/recipe/recipe_stage.h"
#include "worker/registry/registry.h"

namespace frostline::cli {

// What a finished stage hands to the next ones.
//
// `what` as in a recipe: "best", "best-2", "best.rate", "plan". A stage that
// left nothing to take is TRIALS_TOO_FEW and says what to do.
absl::StatusOr<YamlPtr> FetchEarlierValue(Client& client,
                                          const StageStudy& earlier,
                                          const std::string& what);

// The models and data sets that there are, and what is known of a model.
struct RecipeStock {
  std::string where;  // "the registry registry/", "the coordinator's workers"
  std::set<std::string> models;
  std::set<std::string> data;
  ModelFactsOf model_facts;
  bool of_nobody = false;  // no coordinator answers, and no registry is there
};

RecipeStock RecipeStockOf(const registry::Registry& registry);

// What counts for `model` in a recipe: what is known of it, else what the
// recipe says; it has a pooler unless either says otherwise.
RecipeValues FactsOf(const Recipe& recipe, const RecipeStock& stock,
                     const std::string& model);

struct MissingNeed {
  std::string id;
  bool is_model = false;
  std::string stage;  // "frozen-english", the first that needs it
};

struct SurveyedStudy {
  StageStudy study;
  bool takes_earlier = false;        // its values are stand-ins, in part
  std::vector<MissingNeed> missing;  // of a study that is left out, its data
};

struct RecipeSurvey {
  std::vector<SurveyedStudy> studies;  // that run
  std::vector<SurveyedStudy> skipped;
  std::vector<MissingNeed> missing;  // without which it cannot run, each once
  std::vector<std::string> warnings;
};

absl::StatusOr<RecipeSurvey> SurveyRecipe(const Recipe& recipe,
                                          const RecipeScale& scale,
                                          const RecipeWish& wish,
                                          const RecipeStock& stock);

// Says of each what it is, where it can be had and the line that registers it.
std::string DescribeMissing(const Recipe& recipe,
                            const std::vector<MissingNeed>& missing);

// An earlier value that is not known yet: no values at all for a point, and for
// a parameter the first that it can have.
absl::StatusOr<YamlPtr> StandInFor(const StageStudy& earlier,
                                   const std::string& what);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_SURVEY_H_
