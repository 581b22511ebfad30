// SPDX-License-Identifier: Apache-2.0
//
// File: question.h
#ifndef FROSTLINE_SERVER_IMPORTANCE_QUESTION_H_
#define FROSTLINE_SERVER_IMPORTANCE_QUESTION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/importance.pb.h"
#include "importance/evaluator.h"
#include "server/importance/known_trials.h"
#include "study/history.h"

namespace frostline::server {

// These targets are of a trial's usage and no metrics.
inline constexpr char kTrainSeconds[] = "train_seconds";
inline constexpr char kTrainedParameters[] = "trained_parameters";

struct ImportanceQuestion {
  v1::ImportanceOptions used;  // defaults filled in; without `parameters`
  importance::EvaluateOptions options;
  std::vector<Objective> objectives;  // the target, and what best_by names
  bool by_labels = false;             // the filter looks at labels
};

// Answers REQUEST_INVALID for unknown parameters, sets that are none
// (evaluate_options.h) and a step before the first; evaluators judge the rest.
absl::StatusOr<ImportanceQuestion> MakeQuestion(
    const v1::ImportanceOptions& asked, const CheckedStudy& study);

// Errors show it: "accuracy, loss, …".
std::string ListOf(const std::set<std::string>& names);

// Answers REQUEST_INVALID, naming those that there are.
absl::StatusOr<int> FindParameter(const Space& space, const std::string& name,
                                  const std::string& field);

// Answers depend on it and the study's revision; which parameters are shown is
// not in it.
std::string KeyOf(const ImportanceQuestion& question);

// Returns what the trial ended with, in a metric or of its usage.
std::optional<double> FinalValueOf(const KnownTrial& known,
                                   const std::string& metric);

// Takes the trials that match the filter; one that lacks an objective has no
// values, and evaluators leave it out. It answers REQUEST_INVALID, naming what
// there is, for a target that no trial has.
absl::StatusOr<History> SelectHistory(
    const ImportanceQuestion& question, const CheckedStudy& study,
    const std::map<std::int64_t, KnownTrial>& trials);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_QUESTION_H_
