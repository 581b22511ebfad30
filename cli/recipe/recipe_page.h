// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_page.h
//
// A recipe's report: what each stage came to, held against what was published,
// as a page, on a terminal and as JSON.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_PAGE_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/recipe/recipe_file.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/recipe_survey.h"
#include "cli/report/report_page.h"
#include "cli/report/study_record.h"
#include "cli/term/table.h"

namespace frostline::cli {

// Sentences about what a recipe found. Published differences of one run each
// are judged by what so many examples can show: two equally good runs of
// accuracy p on n examples each differ, once in twenty, by 1.96 · sqrt(2 p (1 -
// p) / n) or more (the normal approximation to two binomials). Example: on 544
// examples at .93 that is .030, so a difference of .014 says nothing.

// Returns the bound of the formula above, or NaN when a value is not a share of
// examples.
double LeastVisibleDifference(double first, double second,
                              std::int64_t examples);

// Returns a paragraph about the published runs beside `to`, by `metric` or by
// its name without the set, or nothing. Leaves out metrics that are not shares,
// and runs whose number of examples is unknown.
std::vector<std::string> JudgePublished(const PublishedStage& published,
                                        const std::string& to,
                                        const std::string& metric);

// The correlation of a module's rate with the score, over the trials of a
// search: Spearman's correlation with its 95 % interval by Fisher's z,
// tanh(atanh(r) ± 1.96 · 1.06 / sqrt(n - 3)) (Fieller et al. 1957). A sampler's
// trials are not a random sample, so it describes them and proves nothing; for
// conclusions use importance.

struct RateCorrelation {
  std::string module;
  double correlation = 0.0;
  double lo95 = 0.0;
  double hi95 = 0.0;
  std::size_t trials = 0;
};

// Returns the correlations in depth order, without modules whose rate is
// constant.
std::vector<RateCorrelation> CorrelateRates(const StudyRecord& record);

ReportTable CorrelationTable(const std::vector<RateCorrelation>& all,
                             const std::string& name);

// Returns sentences about entries of one stage that were compared: how they
// differ, and one sentence for all that do not.
std::vector<std::string> AcrossSentences(const RecipeRecord& record);

// Returns all tests between entries by stage, and what could not be tested.
std::vector<ReportSection> AcrossSections(const RecipeRecord& record);

// Returns a few sentences about the result of a stage, the most important
// first. `published` may be null; then nothing is said about published results.
std::vector<std::string> FindingsOf(const StageRecord& stage,
                                    const PublishedStage* published);

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
