// SPDX-License-Identifier: Apache-2.0
//
// File: published_judge.h
//
// Judges differences that were published of one run each by what so many
// examples can show. Two runs of accuracy p on n examples each differ, once in
// twenty, by 1.96 · sqrt(2 p (1 - p) / n) or more though both are equally good
// (the normal approximation to two binomials). Example: on 544 examples at .93
// that is .030, so .014 says nothing.
#ifndef FROSTLINE_CLI_RECIPE_PUBLISHED_JUDGE_H_
#define FROSTLINE_CLI_RECIPE_PUBLISHED_JUDGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/recipe/recipe_file.h"

namespace frostline::cli {

// NaN for what is no share of examples.
double LeastVisibleDifference(double first, double second,
                              std::int64_t examples);

// A sentence for each run that was published beside `to`, by `metric` or by its
// name without the set; none of metrics that are no shares, or of examples that
// nobody counted.
std::vector<std::string> JudgePublished(const PublishedStage& published,
                                        const std::string& to,
                                        const std::string& metric);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_PUBLISHED_JUDGE_H_
