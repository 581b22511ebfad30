// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_findings.h
//
// Judges differences that were published of one run each by what so many
// examples can show. Two runs of accuracy p on n examples each differ, once in
// twenty, by 1.96 · sqrt(2 p (1 - p) / n) or more though both are equally good
// (the normal approximation to two binomials). Example: on 544 examples at .93
// that is .030, so .014 says nothing.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_FINDINGS_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/recipe/recipe_file.h"
#include "cli/recipe/recipe_record.h"
#include "cli/report/report_page.h"
#include "cli/report/study_record.h"

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

// How each module's rate goes with the score over a search's trials: Spearman's
// correlation with its 95 % interval by Fisher's z, tanh(atanh(r) ± 1.96 · 1.06
// / sqrt(n - 3)) (Fieller et al. 1957). A sampler's trials are no random
// sample, so it describes them and proves nothing; importance is what counts.

struct RateCorrelation {
  std::string module;
  double correlation = 0.0;
  double lo95 = 0.0;
  double hi95 = 0.0;
  std::size_t trials = 0;
};

// In depth order; modules whose rate never differs are left out.
std::vector<RateCorrelation> CorrelateRates(const StudyRecord& record);

ReportTable CorrelationTable(const std::vector<RateCorrelation>& all,
                             const std::string& name);

// Of entries of one stage that were set against each other: where they differ,
// how; of the others in one sentence that they do not.
std::vector<std::string> AcrossSentences(const RecipeRecord& record);

// All tests that were made of it, by stage, and what could not be tested.
std::vector<ReportSection> AcrossSections(const RecipeRecord& record);

// What a stage came to in a sentence or a few, the weightiest first. Without
// `published` nothing is said of that.
std::vector<std::string> FindingsOf(const StageRecord& stage,
                                    const PublishedStage* published);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_FINDINGS_H_
