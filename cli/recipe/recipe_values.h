// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_values.h
//
// Puts values where a recipe's YAML says ${…} (docs/reference/recipe-file.md).
// What is all of a value may become a number, a list or a map; within a text it
// is text. Examples, with layers = 6:
//
//   k: "${layers / 2}"        ->  k: 3
//   "first ${n} frozen": …    ->  "first 2 frozen": …
//   train_rows: "${rows}"     ->  the key goes where rows is ~
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_VALUES_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_VALUES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_VALUES_H_
