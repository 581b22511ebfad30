// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_page.h
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_PAGE_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_PAGE_H_

#include "absl/status/statusor.h"
#include "cli/recipe/recipe_record.h"
#include "cli/report/report_page.h"

namespace frostline::cli {

// Says of a run of a recipe what it comes to: what was found first, then each
// stage, what was published beside what was seen. It says nothing of now. A
// recipe that the record holds and that cannot be read is the error of
// ParseRecipe.
absl::StatusOr<ReportPage> ComposeRecipeReport(const RecipeRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_PAGE_H_
