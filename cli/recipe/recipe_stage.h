// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_stage.h
//
// A stage of a recipe as the studies that it stands for: one, or one for each
// of its entries, all values put in. It looks and answers; nothing is begun.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_STAGE_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_STAGE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/recipe/recipe_file.h"
#include "cli/study_file/study_file.h"

namespace frostline::cli {

// What `each` of a stage and `for` of a run stand for: every combination of
// their entries. Example: [{bert: …, roberta: …}, {yelp: …}] is bert-yelp and
// roberta-yelp.

struct RecipeEntry {
  std::vector<std::string> names;
  RecipeValues values;
};

// A model or a data set that somebody wants in the place of a recipe's own.
struct Replacement {
  std::string key;  // "model" or "data"
  std::string id;   // empty: none is wanted
};

// Of `each`, its values put in; null is one entry without a name. An axis whose
// entries have the key of a replacement keeps those of that id, or has one
// entry of that name.
absl::StatusOr<std::vector<RecipeEntry>> EntriesOfEach(
    const YamlPtr& each, const std::string& file,
    const std::vector<Replacement>& replacements);

// Of `for`: {n: [1, 2]} or {n: {from: 1, to: 4}}; the names stay empty.
absl::StatusOr<std::vector<RecipeValues>> EntriesOfFor(const YamlPtr& loop,
                                                       const std::string& file);

// Labels of a recipe's studies: its name, the run, the stage, the stage with
// its entry, and how its runs are compared and drawn.
inline constexpr char kRecipeLabel[] = "recipe";
inline constexpr char kRecipeRunLabel[] = "recipe_run";
inline constexpr char kRecipeStageLabel[] = "recipe_stage";
inline constexpr char kRecipeEntryLabel[] = "recipe_entry";
inline constexpr char kRecipeCompareLabel[] = "recipe_compare";
inline constexpr char kRecipeMetricLabel[] = "recipe_metric";
inline constexpr char kRecipeMarginLabel[] = "recipe_margin";
inline constexpr char kRecipeCurveLabel[] = "recipe_curve";
inline constexpr char kRecipeAcrossLabel[] = "recipe_across";
inline constexpr char kRecipeAcrossMetricsLabel[] = "recipe_across_metrics";

// How a recipe is wanted.
struct RecipeWish {
  std::string scale;
  std::string id;  // of the run: its studies' ids begin with it
  std::string model;
  std::string data;
  RecipeValues set;
};

// What is known of a model by its id: layers, heads, no_pooler.
using ModelFactsOf = std::function<RecipeValues(const std::string& model)>;

struct StageRun {
  std::string name;
  std::optional<double> at;  // where a picture has it
};

struct StageStudy {
  std::string stage;
  std::vector<std::string> names;  // of its entry: "bert", "yelp"
  std::string about;
  std::string curve;
  bool skip_without_data = false;
  StudyFile study;             // its id is the study's
  std::vector<StageRun> runs;  // empty: it searches
  std::optional<RecipeCompare> compare;
  std::optional<RecipeAcross> across;
};

// "frozen-english", as `published` calls it.
std::string NameOfEntry(const StageStudy& study);

// Answers what an earlier stage has come to: `what` is "best", "best-2",
// "best.rate" or "plan".
using EarlierValueOf = std::function<absl::StatusOr<YamlPtr>(
    const StageStudy& earlier, const std::string& what)>;

struct StageWorld {
  const Recipe& recipe;
  const RecipeScale& scale;
  const RecipeWish& wish;
  ModelFactsOf model_facts;
  EarlierValueOf earlier_value;
};

// `earlier` are the studies of all stages before it; what was skipped is not
// among them. Mistakes are those of study files, at the recipe's lines.
absl::StatusOr<std::vector<StageStudy>> StudiesOf(
    const StageWorld& world, const RecipeStage& stage,
    const std::vector<StageStudy>& earlier);

// "alf-tiny" unless the wish names another.
std::string RunIdOf(const Recipe& recipe, const RecipeWish& wish);

// The runs of a stage as what a study file says: an enqueued trial for each run
// and seed, labelled with the run's name.

// Labels of a run's trials: its name, and where a picture has it.
inline constexpr char kRunLabel[] = "run";
inline constexpr char kRunAtLabel[] = "at";

struct ExpandedRuns {
  std::vector<StageRun> runs;
  std::vector<YamlPtr> enqueue;
};

// `runs` is a map as the file has it. A run without a strategy and values, one
// name twice and no seeds are mistakes.
absl::StatusOr<ExpandedRuns> ExpandRuns(const YamlPtr& runs,
                                        const std::string& file,
                                        const ValueOf& value_of);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_STAGE_H_
