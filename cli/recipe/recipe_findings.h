// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_findings.h
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_FINDINGS_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_FINDINGS_H_

#include <string>
#include <vector>

#include "cli/recipe/recipe_file.h"
#include "cli/recipe/recipe_record.h"

namespace frostline::cli {

// What a stage came to in a sentence or a few, the weightiest first. Without
// `published` nothing is said of that.
std::vector<std::string> FindingsOf(const StageRecord& stage,
                                    const PublishedStage* published);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_FINDINGS_H_
