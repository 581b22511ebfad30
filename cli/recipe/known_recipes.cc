// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/known_recipes.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/term/text_file.h"

namespace frostline::cli {

absl::StatusOr<Recipe> OpenRecipe(const std::string& name_or_file) {
  std::vector<std::string> names;
  for (const KnownRecipe& known : KnownRecipes()) {
    if (known.name == name_or_file) {
      return ParseRecipe(known.text,
                         absl::StrCat("recipes/", known.name, "/recipe.yaml"));
    }
    names.push_back(known.name);
  }
  const bool is_file = absl::StrContains(name_or_file, "/") ||
                       absl::EndsWith(name_or_file, ".yaml");
  if (!is_file) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("no recipe is called '", name_or_file, "'"),
                     Suggest(name_or_file, names), "NAME");
  }
  ASSIGN_OR_RETURN(const std::string text,
                   ReadTextFile(name_or_file, kMaxYamlBytes));
  return ParseRecipe(text, name_or_file);
}

}  // namespace frostline::cli
