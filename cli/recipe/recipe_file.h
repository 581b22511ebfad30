// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_file.h
//
// A recipe as its file says it (docs/reference/recipe-file.md), before values
// are put in. The stages are separate; their studies are still YAML.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_FILE_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_FILE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/study_file/yaml_to_proto.h"

namespace frostline::cli {

// Replacement of ${…} in a recipe's YAML (docs/reference/recipe-file.md). If
// ${…} is the whole value, it may become a number, a list or a map; within a
// text it becomes text. Examples, with layers = 6:
//
//   k: "${layers / 2}"        ->  k: 3
//   "first ${n} frozen": …    ->  "first 2 frozen": …
//   train_rows: "${rows}"     ->  the key is removed if rows is ~

using RecipeValues = std::map<std::string, YamlPtr>;

// Returns the value of a name, or null when there is none.
using ValueOf = std::function<absl::StatusOr<YamlPtr>(const std::string& name)>;

// Replaces every ${…} in `node` and below it. A name without a value is
// STUDY_FIELD_UNKNOWN at its line.
absl::StatusOr<YamlPtr> PutValues(const YamlPtr& node, const std::string& file,
                                  const ValueOf& value_of);

// Parses one word of a command line as a value: a number, a list, a map.
absl::StatusOr<YamlPtr> ParseValue(const std::string& text,
                                   const std::string& flag);

// Returns a lookup that takes a value from the first of `scopes` that has it.
ValueOf FromScopes(std::vector<const RecipeValues*> scopes);

// A reader of one map's keys. Each key is taken by name. A key that nobody took
// is a mistake, reported with the most similar known key. The first mistake is
// kept.
class RecipeFields {
 public:
  // `what` names the map in messages: "the recipe", "stage search".
  RecipeFields(const YamlPtr& node, const std::string& file,
               const std::string& what);

  // Returns null when the key is missing.
  YamlPtr Take(const std::string& key);
  YamlPtr TakeMap(const std::string& key);
  // Returns "" when the key is missing.
  std::string TakeText(const std::string& key);
  std::string NeedText(const std::string& key, const std::string& example);
  double TakeNumber(const std::string& key);  // 0 when it is missing
  bool TakeFlag(const std::string& key);

  // Returns all keys that nobody took, in the file's order, and counts them as
  // taken.
  std::vector<YamlEntry> TakeRest();

  void Fail(const YamlMark& mark, ErrorId id, const std::string& cause,
            const std::string& fix, const std::string& field = "");
  // Returns the first mistake, which may be an unknown key.
  absl::Status Finish();

 private:
  YamlPtr node_;
  std::string file_;
  std::string what_;
  std::vector<std::string> known_;
  absl::Status error_;
};

inline constexpr int kRecipeFormat = 1;

struct RecipeScale {
  std::string name;
  std::string about;
  RecipeValues values;
};

// A model or a data set that has to be registered.
struct RecipeNeed {
  std::string what;
  std::string where;
  std::string add;     // the command that registers it
  RecipeValues facts;  // for a model: layers, heads, no_pooler
};

struct RecipeCompare {
  std::string to;  // the run that the others are compared with
  std::string metric;
  double margin = 0.0;
};

// How the entries of a stage are compared.
struct RecipeAcross {
  std::string to;  // the entry that the others are compared with
  std::vector<std::string> metrics;
  std::string margin;  // a number; empty: none
};

struct RecipeStage {
  std::string name;
  std::string about;
  YamlPtr each;  // null: the stage is one study
  YamlPtr runs;  // null: it is a search
  YamlPtr study;
  std::optional<RecipeCompare> compare;
  std::optional<RecipeAcross> across;
  std::string curve;
  bool skip_without_data = false;
  // Leaves out entries in a precision that no worker computes at full speed.
  bool skip_slow_precision = false;
};

// What the report's first sentence says of which stages.
struct RecipeAnswer {
  enum class As {
    kSaved,   // how much time a run saves, and at what price
    kBetter,  // which runs beat the one that they are compared with
    kKept,    // how many frozen modules keep nine tenths of the score
    kPlan,    // what a search found
    kRivals   // whether an entry beats the one that it is compared with
  };
  As as = As::kSaved;
  std::vector<std::string> stages;
};

struct PublishedStage {
  std::int64_t examples = 0;  // measured for the metrics; 0: unknown
  std::map<std::string, std::map<std::string, double>> runs;
};

// A recipe as its file says it.
struct Recipe {
  std::string file;
  std::string text;  // the file's text
  std::string name;
  std::string title;
  std::string question;
  std::string source;
  std::string found;
  std::string adds;
  // Nothing: of the first stage with runs that are compared, what they save.
  std::optional<RecipeAnswer> answer;
  double highest_layer_rate = 0.0;  // 0: any
  std::map<std::string, RecipeNeed> models;
  std::map<std::string, RecipeNeed> data;
  std::vector<RecipeScale> scales;
  std::vector<RecipeStage> stages;
  std::map<std::string, PublishedStage> published;  // "frozen-english"
};

// Parses a recipe. A mistake is STUDY_FIELD_UNKNOWN, STUDY_FIELD_MISSING or
// STUDY_FILE_SYNTAX with its place; a newer format is REQUEST_INVALID.
absl::StatusOr<Recipe> ParseRecipe(const std::string& text,
                                   const std::string& file);

// Returns the scale of this name. Otherwise returns REQUEST_INVALID with the
// existing scales.
absl::StatusOr<const RecipeScale*> FindScale(const Recipe& recipe,
                                             const std::string& name);

// A recipe that is built into the program.
struct KnownRecipe {
  std::string name;
  std::string text;  // the text of recipes/NAME/recipe.yaml
};

// Returns the built-in recipes by name.
const std::vector<KnownRecipe>& KnownRecipes();

// Opens a built-in recipe, or a file when the word has a slash or ends in
// .yaml. Any other word is REQUEST_INVALID with a suggestion.
absl::StatusOr<Recipe> OpenRecipe(const std::string& name_or_file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_FILE_H_
