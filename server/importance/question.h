// SPDX-License-Identifier: Apache-2.0
//
// File: question.h
//
// What is asked of a study's importance, and the trials as that question sees
// them: which ones count, and which of their numbers is the target.
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

// Targets that are no metrics, of a trial's usage.
inline constexpr char kTrainSeconds[] = "train_seconds";
inline constexpr char kTrainedParameters[] = "trained_parameters";

struct ImportanceQuestion {
  v1::ImportanceOptions used;  // defaults filled in; without `parameters`
  importance::EvaluateOptions options;
  std::vector<Objective> objectives;  // the target, and what best_by names
};

// REQUEST_INVALID for parameters that there are not, sets of them that are none
// (named_subsets.h) and a step before the first; what evaluators judge is
// theirs.
absl::StatusOr<ImportanceQuestion> MakeQuestion(
    const v1::ImportanceOptions& asked, const CheckedStudy& study);

// "accuracy, loss, …": for errors that say what there is.
std::string ListOf(const std::set<std::string>& names);

// REQUEST_INVALID, naming those that there are.
absl::StatusOr<int> FindParameter(const Space& space, const std::string& name,
                                  const std::string& field);

// What answers to the question are a function of, besides the study's
// revision. Which parameters are shown is not part of it.
std::string KeyOf(const ImportanceQuestion& question);

// What a trial came to at its end in a metric, or of its usage.
std::optional<double> FinalValueOf(const KnownTrial& known,
                                   const std::string& metric);

// The trials that match the filter, with the objectives' values where they
// have them; one that lacks one has none, and is left out by evaluators.
// REQUEST_INVALID, naming what there is, for a target that no trial has.
absl::StatusOr<History> SelectHistory(
    const ImportanceQuestion& question, const CheckedStudy& study,
    const std::map<std::int64_t, KnownTrial>& trials);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_QUESTION_H_
