// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_record.h
//
// The data of a report about a recipe's run: the recipe's file and the record
// of each study, whose labels say what it is. As for a study, a page is always
// made from a record's text.
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

// The record of one study of a run, with the tests of its runs.
struct StageRecord {
  StudyRecord study;
  std::optional<v1::TrialComparison> comparison;
};

// The same run of several entries of a stage, compared by one metric.
struct AcrossRecord {
  std::string stage;
  std::string run;
  v1::TrialComparison comparison;
};

// The record of a whole run.
struct RecipeRecord {
  std::string run;          // of the run: "elsa-tiny"
  std::string recipe_file;  // the file's name
  std::string recipe_text;  // empty: the recipe is not known here
  std::vector<StageRecord> stages;
  std::vector<AcrossRecord> across = {};
  // Sentences that say why some studies are missing.
  std::vector<std::string> missing = {};
};

std::string ToText(const RecipeRecord& record);

// Returns whether a text begins like a recipe's record; ReadRecipeRecord() may
// still refuse it.
bool IsRecipeRecord(const std::string& text);

// Parses a record. Returns REQUEST_INVALID for a text that is not a record or
// that a later version of Frostline wrote.
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

// Returns all studies of the run in the order of creation, or STUDY_NOT_FOUND
// when there are none.
absl::StatusOr<std::vector<v1::Study>> FindRunStudies(Client& client,
                                                      const std::string& run);

// Fetches the record of one study and the tests of its runs. What cannot be
// tested is noted in the study's `missing`.
absl::StatusOr<StageRecord> FetchStage(Client& client, const v1::Study& study,
                                       double tolerance);

// Returns "joined" for the entry "ways-joined" of the stage `ways`.
std::string EntryNameOf(const StudyRecord& record);

// Tests the entries of each stage that says `across` and adds the results to
// the record.
absl::Status FetchAcross(Client& client, RecipeRecord& record);

// Sets which outcomes a test uses: those of the test set for "test.accuracy",
// those of the task sst for "sst.accuracy" of a study with several tasks.
void NameOutcomes(const StudyRecord& record, const std::string& metric,
                  v1::CompareTrialsRequest& request);

// Fetches the record of a whole run. `recipe` may be null; published results
// are then missing.
absl::StatusOr<RecipeRecord> FetchRun(Client& client, const std::string& run,
                                      const Recipe* recipe, double tolerance);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_RECORD_H_
