// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_answer.h
//
// The answer to a recipe's question, in one sentence with the numbers of this
// run, which a report begins with:
//
//   'first 2 and embeddings frozen' saves 41.5 % ± 1.2 of the processor time
//   and costs 1.1 points of accuracy (95 %: -1.0 to 3.2), which cannot be told
//   from nothing.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_ANSWER_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_ANSWER_H_

#include <optional>
#include <string>

#include "cli/recipe/recipe_file.h"
#include "cli/recipe/recipe_record.h"

namespace frostline::cli {

// Returns the sentence. `recipe` may be nothing; then the first stage whose
// runs were compared answers. Returns "" when the record has nothing to answer
// with.
std::string AnswerOf(const RecipeRecord& record,
                     const std::optional<Recipe>& recipe);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_ANSWER_H_
