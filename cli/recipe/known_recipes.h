// SPDX-License-Identifier: Apache-2.0
//
// File: known_recipes.h
#ifndef FROSTLINE_CLI_RECIPE_KNOWN_RECIPES_H_
#define FROSTLINE_CLI_RECIPE_KNOWN_RECIPES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/recipe/recipe_file.h"

namespace frostline::cli {

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

#endif  // FROSTLINE_CLI_RECIPE_KNOWN_RECIPES_H_
