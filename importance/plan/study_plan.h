// SPDX-License-Identifier: Apache-2.0
//
// File: study_plan.h
//
// What to do with what was learnt: which modules to freeze, and at which rate
// to train the others.
//
//   ASSIGN_OR_RETURN(StudyPlan plan,
//                    MakePlan(space, objectives, history, options));
#ifndef FROSTLINE_IMPORTANCE_PLAN_STUDY_PLAN_H_
#define FROSTLINE_IMPORTANCE_PLAN_STUDY_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/interval.h"
#include "importance/report/report.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

class PlanBasis;

struct PlanOptions {
  EvaluateOptions evaluate;
  // Score to be given up for freezing, in the objective's unit; 0: what noise
  // hides.
  double tolerance = 0.0;
  // Of the evaluation set, for one_run; 0: unknown.
  std::int64_t evaluation_rows = 0;
};

// Below it a module is not known.
inline constexpr double kSureEnough = 0.9;

// A score is a mean of as many runs, with a seed each, as one would run to see
// it.
inline constexpr int kSeedsOfMean = 5;

enum class Advice {
  kFreeze,  // freezing costs at most the tolerance, with kSureEnough
  kTrain,   // training is worth more, with kSureEnough
  kNotKnown,
  kFixed,  // the study does not search it
};

struct PlannedModule {
  std::string module;
  double rate = 0.0;
  bool freeze = false;  // in the plan's point, whatever the advice
  Advice advice = Advice::kNotKnown;
  // That freezing, the rest as planned, costs at most the tolerance; NaN:
  // unknown.
  double freeze_probability = 0.0;
  // Score lost when frozen, not trained at a plan's rate, by the same draws:
  // the 80 % end is within the tolerance just where freeze_probability reaches
  // kSureEnough. NaN if fixed or never frozen.
  Interval cost_of_freezing;
  std::string reason;
};

struct StudyPlan {
  std::vector<PlannedModule> modules;  // in depth order
  Point point;                         // in the searched space
  // The mean over kSeedsOfMean seeds, and one run, with noise of seeds and
  // evaluation set; in the metric's range.
  Interval predicted_score;
  Interval one_run;
  double best_seen_value = 0.0;  // as seen
  Interval best_seen_score;      // of the best trial, less its luck
  std::int64_t best_seen_trial = 0;
  // That the plan's mean reaches the best trial's.
  double at_least_best_probability = 0.0;
  // The nearest trial's rates differ in so many modules.
  std::int64_t nearest_trial = 0;
  int differs_in = 0;
  std::string verdict;
  // Against training all modules; NaN: unknown.
  double trained_parameters_saved = 0.0;
  double seconds_saved_share = 0.0;
  std::vector<std::int64_t> supporting_trials;  // best first
  std::vector<ReportWarning> warnings;
};

// Errors as Evaluate's and CheckPlanRequest's (plan_request.h).
absl::StatusOr<StudyPlan> MakePlan(const Space& space,
                                   const std::vector<Objective>& objectives,
                                   const History& history,
                                   const PlanOptions& options);
absl::StatusOr<StudyPlan> MakePlan(const PlanBasis& basis,
                                   const PlanOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_STUDY_PLAN_H_
