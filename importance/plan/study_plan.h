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
  // How much of the score may be given up for freezing, in the objective's
  // unit; 0: nothing that can be told from noise.
  double tolerance = 0.0;
  // Rows of the evaluation set, so that one_run holds its noise too; 0: not
  // known.
  std::int64_t evaluation_rows = 0;
};

// Advice is given from this probability on; below it a module is not known.
inline constexpr double kSureEnough = 0.9;

// A score is predicted as the mean of so many runs, each with a seed of its
// own: as many as one would run to see it.
inline constexpr int kSeedsOfMean = 5;

enum class Advice {
  kFreeze,    // freezing costs no more than the tolerance, with kSureEnough
  kTrain,     // training is worth more than the tolerance, with kSureEnough
  kNotKnown,  // neither can be said
  kFixed,     // the study does not search it
};

struct PlannedModule {
  std::string module;
  double rate = 0.0;
  bool freeze = false;  // in the plan's point, whatever the advice
  Advice advice = Advice::kNotKnown;
  // That freezing it, the rest as planned, costs no more than the tolerance;
  // NaN where nothing can be said.
  double freeze_probability = 0.0;
  // Loss of score when frozen instead of trained at the rate that a plan would
  // choose, of the same draws: it ends (80 %) within the tolerance just where
  // freeze_probability is at least kSureEnough. NaN where nothing can be said,
  // since it is fixed or was never frozen.
  Interval cost_of_freezing;
  std::string reason;  // a sentence
};

struct StudyPlan {
  std::vector<PlannedModule> modules;  // in depth order
  Point point;                         // the plan in the searched space
  // Of the whole plan as one point: its mean over kSeedsOfMean seeds, and what
  // one run of it will show, seeds' noise and the evaluation set's own among
  // it. Never outside of the metric's range.
  Interval predicted_score;
  Interval one_run;
  double best_seen_value = 0.0;  // as it was seen
  Interval best_seen_score;      // of the best trial, its luck taken off
  std::int64_t best_seen_trial = 0;
  // That the plan's mean over seeds is at least that of the best trial.
  double at_least_best_probability = 0.0;
  // Modules in which the plan differs from the trial nearest to it.
  std::int64_t nearest_trial = 0;
  int differs_in = 0;
  std::string verdict;  // one sentence: what can be said
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
// The same on a basis that is there already (plan_basis.h).
absl::StatusOr<StudyPlan> MakePlan(const PlanBasis& basis,
                                   const PlanOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_STUDY_PLAN_H_
