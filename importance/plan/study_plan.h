// SPDX-License-Identifier: Apache-2.0
//
// File: study_plan.h
//
// What to do with what was learnt: which modules to freeze, since no trial can
// tell them from frozen ones, and at which rate to train the others.
//
//   ASSIGN_OR_RETURN(StudyPlan plan,
//                    MakePlan(space, objectives, history, options));
#ifndef FROSTLINE_IMPORTANCE_PLAN_STUDY_PLAN_H_
#define FROSTLINE_IMPORTANCE_PLAN_STUDY_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/evaluator.h"

namespace frostline {

struct PlanOptions {
  EvaluateOptions evaluate;
  // How much of the score may be given up for freezing, in the objective's
  // unit; 0: nothing that can be told from noise.
  double tolerance = 0.0;
};

struct PlannedModule {
  std::string module;
  double rate = 0.0;
  bool freeze = false;
  // Expected loss of score when frozen instead of trained at its best rate;
  // NaN where nothing can be said, since it is fixed or was never frozen.
  Interval cost_of_freezing;
  std::string reason;  // a sentence
};

struct StudyPlan {
  std::vector<PlannedModule> modules;  // in depth order
  Point point;                         // the plan in the searched space
  Interval predicted_score;            // of one more trial, noise apart
  Interval best_seen_score;  // of the best trial, shrunken for its luck
  std::int64_t best_seen_trial = 0;
  // Against training every module, by what trials took; NaN: not known.
  double trained_parameters_saved = 0.0;
  double seconds_saved_share = 0.0;
  std::vector<std::int64_t>
      supporting_trials;  // nearest to the plan, best first
  std::vector<ReportWarning> warnings;
};

// Errors as Evaluate's; REQUEST_INVALID for a tolerance below 0 or not finite,
// and for a space no module of which takes its rate from a parameter.
absl::StatusOr<StudyPlan> MakePlan(const Space& space,
                                   const std::vector<Objective>& objectives,
                                   const History& history,
                                   const PlanOptions& options);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_PLAN_STUDY_PLAN_H_
