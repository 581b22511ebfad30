// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_file.h
//
// A recipe as its file has it (docs/reference/recipe-file.md), nothing put in
// yet. Its stages are told apart, their studies stay YAML.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_FILE_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_FILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/recipe/recipe_values.h"

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_FILE_H_
