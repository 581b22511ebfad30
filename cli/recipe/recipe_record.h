// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_record.h
//
// All that a report of a recipe's run is made of: the recipe's file and the
// record of each of its studies, which say by their labels what they are. As of
// a study, a page is always made from a record's text.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_RECORD_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_RECORD_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/recipe/recipe_file.h"
#include "cli/recipe/run_table.h"
#include "cli/report/study_record.h"
#include "frostline/v1/comparison.pb.h"
#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

struct StageRecord {
  StudyRecord study;
  std::optional<v1::TrialComparison> comparison;
};

// The same run of several entries of a stage, set side by side by one metric.
struct AcrossRecord {
  std::string stage;
  std::string run;
  v1::TrialComparison comparison;
};

struct RecipeRecord {
  std::string run;          // "elsa-tiny"
  std::string recipe_file;  // its name
  std::string recipe_text;  // empty: the recipe is not known here
  std::vector<StageRecord> stages;
  std::vector<AcrossRecord> across = {};
  // Why some are not there, a sentence each.
  std::vector<std::string> missing = {};
};

std::string ToText(const RecipeRecord& record);

// A text that begins as a recipe's record does; ReadRecipeRecord may still
// refuse it.
bool IsRecipeRecord(const std::string& text);

// Answers REQUEST_INVALID for a text that is no record, or one of a later
// version of Frostline.
absl::StatusOr<RecipeRecord> ReadRecipeRecord(const std::string& text);

// The runs of one comparison, as many as the coordinator compares at once.
class ComparedRuns {
 public:
  // Adds a run that has a result, or remembers that there was no room for it.
  void Add(const std::string& name, const RunTrials& run);

  v1::CompareTrialsRequest& request() { return request_; }

  // Adds a sentence to `missing` if runs were left out of `what`.
  void SayLeftOut(const std::string& what,
                  std::vector<std::string>& missing) const;

 private:
  v1::CompareTrialsRequest request_;
  std::size_t trials_ = 0;
  std::vector<std::string> left_out_;
};

// Returns a stage's runs, first the one that the others are compared with.
ComparedRuns RunsToCompare(const StudyRecord& record);

// All studies of the run, in the order in which they were created; none is
// STUDY_NOT_FOUND.
absl::StatusOr<std::vector<v1::Study>> FindRunStudies(Client& client,
                                                      const std::string& run);

// Asks for one study's record and for the tests of its runs. What cannot be
// tested is noted in the study's `missing`.
absl::StatusOr<StageRecord> FetchStage(Client& client, const v1::Study& study,
                                       double tolerance);

// Tests the entries of each stage that says `across` and adds what came of it.
absl::Status FetchAcross(Client& client, RecipeRecord& record);

// "test.accuracy" is judged by the outcomes of the test set, "sst.accuracy" of
// several tasks by those of the task sst.
void NameOutcomes(const StudyRecord& record, const std::string& metric,
                  v1::CompareTrialsRequest& request);

// All of a run. `recipe` may be null: what was published is not beside it then.
absl::StatusOr<RecipeRecord> FetchRun(Client& client, const std::string& run,
                                      const Recipe* recipe, double tolerance);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_RECORD_H_
