// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_stage.h
//
// The studies of a recipe's stage: one, or one for each entry, with all values
// put in. Nothing here creates a study at a coordinator.
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

// The combinations in `each` of a stage and `for` of a run. Example: [{bert: …,
// roberta: …}, {yelp: …}] gives bert-yelp and roberta-yelp.

struct RecipeEntry {
  std::vector<std::string> names;
  RecipeValues values;
};

// A model or a data set that replaces the recipe's own.
struct Replacement {
  std::string key;  // "model" or "data"
  std::string id;   // empty: no replacement
};

// Returns the entries of `each`. Null gives one entry without a name. If an
// axis has entries with the key of a replacement, only those with the
// replacement's id stay; if none has it, a single entry of that name is used.
absl::StatusOr<std::vector<RecipeEntry>> EntriesOfEach(
    const YamlPtr& each, const std::string& file,
    const std::vector<Replacement>& replacements);

// Returns the values of `for`: {n: [1, 2]} or {n: {from: 1, to: 4}}.
absl::StatusOr<std::vector<RecipeValues>> EntriesOfFor(const YamlPtr& loop,
                                                       const std::string& file);

// Labels of a recipe's studies: the recipe, the run, the stage, the stage with
// its entry, and how runs are compared and drawn.
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
inline constexpr char kRecipeAcrossMarginLabel[] = "recipe_across_margin";

// What the user asks of a recipe.
struct RecipeOptions {
  std::string scale;
  std::string id;  // of the run; the ids of its studies begin with it
  std::string model;
  std::string data;
  RecipeValues set;
};

// Returns what is known about a model by its id: layers, heads, no_pooler.
using ModelFactsOf = std::function<RecipeValues(const std::string& model)>;

struct StageRun {
  std::string name;
  std::optional<double> at;  // its position in a picture
  std::string line = {};     // that joins it with others there
};

// One study of a stage, with all values put in.
struct StageStudy {
  std::string stage;
  std::vector<std::string> names;  // of the entry: "bert", "yelp"
  std::string about;
  std::string curve;
  bool skip_without_data = false;
  StudyFile study;             // its id is the study's id
  std::vector<StageRun> runs;  // empty: it is a search
  std::optional<RecipeCompare> compare;
  std::optional<RecipeAcross> across;
};

// Returns the name that `published` uses: "frozen-english".
std::string NameOfEntry(const StageStudy& study);

// Returns a result of an earlier stage. `what` is "best", "best-2", "best.rate"
// or "plan".
using EarlierValueOf = std::function<absl::StatusOr<YamlPtr>(
    const StageStudy& earlier, const std::string& what)>;

struct StageWorld {
  const Recipe& recipe;
  const RecipeScale& scale;
  const RecipeOptions& options;
  ModelFactsOf model_facts;
  EarlierValueOf earlier_value;
};

// Returns the studies of a stage. `earlier` has the studies of all stages
// before it, without skipped ones. Mistakes are those of study files, with the
// recipe's lines.
absl::StatusOr<std::vector<StageStudy>> StudiesOf(
    const StageWorld& world, const RecipeStage& stage,
    const std::vector<StageStudy>& earlier);

// Returns the id of the run: "alf-tiny" unless the options name another one.
std::string RunIdOf(const Recipe& recipe, const RecipeOptions& options);

// The runs of a stage as enqueued trials of a study file: one trial for each
// run and seed, with the run's name as a label.

// Labels of a run's trials: its name, and its position and line in a picture.
inline constexpr char kRunLabel[] = "run";
inline constexpr char kRunAtLabel[] = "at";
inline constexpr char kRunLineLabel[] = "line";

struct ExpandedRuns {
  std::vector<StageRun> runs;
  std::vector<YamlPtr> enqueue;
};

// Expands the map `runs` of the file. A run without strategy and values, a name
// that appears twice, and missing seeds are mistakes.
absl::StatusOr<ExpandedRuns> ExpandRuns(const YamlPtr& runs,
                                        const std::string& file,
                                        const ValueOf& value_of);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_STAGE_H_
