// SPDX-License-Identifier: Apache-2.0
//
// File: comparison.h
//
// Comparisons of trials: the contenders, their trials, and the result on each
// example.
#ifndef FROSTLINE_SERVER_IMPORTANCE_COMPARISON_H_
#define FROSTLINE_SERVER_IMPORTANCE_COMPARISON_H_

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/trial.pb.h"
#include "server/importance/desk.h"
#include "statistics/compare.h"
#include "statistics/run_score.h"
#include "storage/trial_store.h"
#include "study/history.h"
#include "study/objective.h"

namespace frostline::server {

// Reads a trial's result on each row of its evaluation set. What contradicts
// itself, or its count, counts as not there.

statistics::Outcomes ReadOutcomes(const v1::ExampleOutcomes& outcomes);

// Returns the metric as a function of the rows. It is the trainer's metric of
// that name or, for any other name, the mean of the rows. Null unless it gives
// the trial's `value`.
std::shared_ptr<const statistics::RunScore> ScoreOf(
    const statistics::Outcomes& outcomes, const std::string& metric,
    double value);
std::shared_ptr<const statistics::RunScore> ScoreOf(
    const storage::OutcomeRow& row, const std::string& metric, double value);

// Returns the bootstrap's seed. The same question has the same answer, whoever
// asks and in whichever order.
std::uint64_t ChanceOf(const std::string& fingerprint,
                       const std::string& metric);

// Returns how many rows the last trials with a result were evaluated on; 0 if
// nothing is evaluated by rows, or the first value is no mean of them.
absl::StatusOr<std::int64_t> CountEvaluationRows(
    const storage::TrialStore& store, storage::StudyKey study,
    const History& history);

using StudiesByName = std::map<std::string, StudyHandle>;

// Returns "studies/a" for each study that the request names; NAME_INVALID.
absl::StatusOr<std::vector<std::string>> StudiesOf(
    const v1::CompareTrialsRequest& request);

struct ContenderTrial {
  const StudyHandle* study = nullptr;  // of the map that it was looked up in
  storage::TrialRow row;

  std::string name() const;
};

// Returns the trials that the contender names, each once and, if it asks for
// repeats, all that succeeded at the same point; TRIAL_NOT_FOUND. REQUIRES: all
// its studies are in `studies`.
absl::StatusOr<std::vector<ContenderTrial>> TrialsOf(
    const v1::Contender& contender, const StudiesByName& studies,
    ImportanceDesk& desk, const std::stop_token& stop);

// What is compared: the runs of each contender, and what they were evaluated
// on.
struct ComparedRuns {
  std::vector<statistics::Contender> contenders;
  // By contender, then by run: their names.
  std::vector<std::vector<std::string>> trials;
  std::string metric;  // as trials report it: of another set "test.accuracy"
  Direction direction = Direction::kMaximize;
  std::string set;  // of the outcomes
  std::string task;
  std::string fingerprint;
  std::int64_t examples = 0;
  std::int64_t sentences = 0;  // 0: not known, or there are none
  // Words whose sentences are not known are taken as independent.
  bool loose_words = false;
};

// Refuses what cannot be compared: OUTCOMES_MISSING, OUTCOMES_DIFFER,
// METRIC_UNTESTABLE.
absl::StatusOr<ComparedRuns> ReadContenders(
    const v1::CompareTrialsRequest& request, const StudiesByName& studies,
    ImportanceDesk& desk, const std::stop_token& stop);

// The verb that compares trials. Any thread may call.
class CompareVerb {
 public:
  explicit CompareVerb(ImportanceDesk& desk) : desk_(desk) {}

  // REQUIRES: `studies` are those of StudiesOf(request), in its order.
  void CompareTrials(const std::vector<StudyHandle>& studies,
                     const v1::CompareTrialsRequest& request,
                     CancelFlag cancelled, Reply<v1::TrialComparison> reply);

 private:
  ImportanceDesk& desk_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_COMPARISON_H_
