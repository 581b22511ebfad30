// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_file.h
//
// A recipe as its file has it (docs/reference/recipe-file.md), nothing put in
// yet. Its stages are told apart, their studies stay YAML.
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
#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

// Puts values where a recipe's YAML says ${…} (docs/reference/recipe-file.md).
// What is all of a value may become a number, a list or a map; within a text it
// is text. Examples, with layers = 6:
//
//   k: "${layers / 2}"        ->  k: 3
//   "first ${n} frozen": …    ->  "first 2 frozen": …
//   train_rows: "${rows}"     ->  the key goes where rows is ~

using RecipeValues = std::map<std::string, YamlPtr>;

// Answers null where there is no value of this name.
using ValueOf = std::function<absl::StatusOr<YamlPtr>(const std::string& name)>;

// Every ${…} in `node` and below it. A name without a value is
// STUDY_FIELD_UNKNOWN at its line.
absl::StatusOr<YamlPtr> PutValues(const YamlPtr& node, const std::string& file,
                                  const ValueOf& value_of);

// One word of a command line as a value: a number, a list, a map.
absl::StatusOr<YamlPtr> ParseValue(const std::string& text,
                                   const std::string& flag);

// Takes from the first of `scopes` that has it.
ValueOf FromScopes(std::vector<const RecipeValues*> scopes);

// Reads the keys of one map: each is taken by its name, and what nobody took is
// a mistake, with the key that was probably meant. The first mistake stays.
class YamlFields {
 public:
  // `what` says in messages what the map is: "the recipe", "stage search".
  YamlFields(const YamlPtr& node, const std::string& file,
             const std::string& what);

  // Null where the key is not there.
  YamlPtr Take(const std::string& key);
  YamlPtr TakeMap(const std::string& key);
  // "" where it is not there.
  std::string TakeText(const std::string& key);
  std::string NeedText(const std::string& key, const std::string& example);
  double TakeNumber(const std::string& key);  // 0 where it is not there
  bool TakeFlag(const std::string& key);

  // All keys that nobody took, in the file's order; they count as taken.
  std::vector<YamlEntry> TakeRest();

  void Fail(const YamlMark& mark, ErrorId id, const std::string& cause,
            const std::string& fix, const std::string& field = "");
  // The first mistake, an unknown key among them.
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

// A model or a data set that somebody has to register.
struct RecipeNeed {
  std::string what;
  std::string where;
  std::string add;     // the line that registers it
  RecipeValues facts;  // of a model: layers, heads, no_pooler
};

struct RecipeCompare {
  std::string to;  // the run that the others are set against
  std::string metric;
  double margin = 0.0;
};

// How the entries of a stage are set side by side.
struct RecipeAcross {
  std::string to;  // the entry that the others are set against
  std::vector<std::string> metrics;
};

struct RecipeStage {
  std::string name;
  std::string about;
  YamlPtr each;  // null: the stage is one study
  YamlPtr runs;  // null: it searches
  YamlPtr study;
  std::optional<RecipeCompare> compare;
  std::optional<RecipeAcross> across;
  std::string curve;
  bool skip_without_data = false;
};

struct PublishedStage {
  std::int64_t examples = 0;  // that its metrics were measured on; 0: not said
  std::map<std::string, std::map<std::string, double>> runs;
};

struct Recipe {
  std::string file;
  std::string text;  // of the file
  std::string name;
  std::string title;
  std::string question;
  std::string source;
  std::string found;
  std::string adds;
  double highest_layer_rate = 0.0;  // 0: any
  std::map<std::string, RecipeNeed> models;
  std::map<std::string, RecipeNeed> data;
  std::vector<RecipeScale> scales;
  std::vector<RecipeStage> stages;
  std::map<std::string, PublishedStage> published;  // "frozen-english"
};

// A mistake is STUDY_FIELD_UNKNOWN, STUDY_FIELD_MISSING or STUDY_FILE_SYNTAX at
// its place, a file of a later format REQUEST_INVALID.
absl::StatusOr<Recipe> ParseRecipe(const std::string& text,
                                   const std::string& file);

// Answers REQUEST_INVALID with the scales that there are.
absl::StatusOr<const RecipeScale*> FindScale(const Recipe& recipe,
                                             const std::string& name);

struct KnownRecipe {
  std::string name;
  std::string text;  // of recipes/NAME/recipe.yaml
};

// Those that the program carries, by name.
const std::vector<KnownRecipe>& KnownRecipes();

// A known one, or that of a file: a word with a slash, or that ends in .yaml.
// Answers REQUEST_INVALID for another word, with what was probably meant.
absl::StatusOr<Recipe> OpenRecipe(const std::string& name_or_file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_FILE_H_
