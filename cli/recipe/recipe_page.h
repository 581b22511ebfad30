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

// Says of a run of a recipe what it comes to: what was found first, then each
// stage, what was published beside what was seen. It says nothing of now. A
// recipe that the record holds and that cannot be read is the error of
// ParseRecipe.
absl::StatusOr<ReportPage> ComposeRecipeReport(const RecipeRecord& record);

// Recipes on a terminal and as JSON.

Table RecipeTable(const std::vector<Recipe>& recipes);
// {"recipes": [{"name", "title", "question", "scales": [{"name", "about"}]}]}
std::string RecipesJson(const std::vector<Recipe>& recipes);

// Question, protocol, what was published, the stages with their sizes.
std::string RenderRecipe(const Recipe& recipe, const RecipeSurvey& survey,
                         int width);
// {"name", …, "stages": [{"study", "stage", "trials", "runs"}], "skipped":
// [{"study", "missing"}], "missing": [{"id", "kind", "stage"}]}
std::string RecipeJson(const Recipe& recipe, const RecipeSurvey& survey);

// What a stage came to: its findings, and the table of its runs.
std::string RenderStage(const StageRecord& stage,
                        const PublishedStage* published, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_PAGE_H_
