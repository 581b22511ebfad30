// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_page.h
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_PAGE_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_PAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/recipe_survey.h"
#include "cli/report/report_page.h"
#include "cli/term/table.h"

namespace frostline::cli {

// Composes the report of a recipe's run: first the findings, then each stage
// with published results beside those seen. The page does not depend on the
// current time. If the recipe in the record cannot be read, returns the error
// of ParseRecipe().
absl::StatusOr<ReportPage> ComposeRecipeReport(const RecipeRecord& record);

// Recipes on a terminal and as JSON.

Table RecipeTable(const std::vector<Recipe>& recipes);
// Returns {"recipes": [{"name", "title", "question", "scales": [{"name",
// "about"}]}]}
std::string RecipesJson(const std::vector<Recipe>& recipes);

// Returns question, protocol, published results, and the stages with their
// sizes.
std::string RenderRecipe(const Recipe& recipe, const RecipeSurvey& survey,
                         int width);
// Returns JSON:
//   {"name", …, "stages": [{"study", "stage", "trials", "runs"}],
//   "skipped": [{"study", "missing"}], "missing": [{"id", "kind", "stage"}]}
std::string RecipeJson(const Recipe& recipe, const RecipeSurvey& survey);

// Returns the findings of a stage and the table of its runs.
std::string RenderStage(const StageRecord& stage,
                        const PublishedStage* published, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_PAGE_H_
