// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_across.h
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_ACROSS_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_ACROSS_H_

#include <string>
#include <vector>

#include "cli/recipe/recipe_record.h"
#include "cli/report/report_page.h"

namespace frostline::cli {

// Of entries of one stage that were set against each other: where they differ,
// how; of the others in one sentence that they do not.
std::vector<std::string> AcrossSentences(const RecipeRecord& record);

// All tests that were made of it, by stage, and what could not be tested.
std::vector<ReportSection> AcrossSections(const RecipeRecord& record);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_ACROSS_H_
