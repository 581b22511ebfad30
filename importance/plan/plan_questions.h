// SPDX-License-Identifier: Apache-2.0
//
// File: plan_questions.h
//
// Which trials to run next so that a plan becomes sure: those that would tell
// most, and the rivals that a plan has to beat.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_QUESTIONS_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_QUESTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/plan/study_plan.h"

namespace frostline::importance {

struct AskedTrial {
  Point point;
  // Part of the answer's uncertainty (the variance of what freezing each module
  // costs, and of the plan's gain) that it and those before it take away, of
  // what is left when open trials have ended; 0 … 1.
  double expected_reduction = 0.0;
  std::string reason;  // "tells whether layer.2 is worth training"
};

// Where the trials of a history are that are queued or running.
std::vector<const Point*> OpenPoints(const Space& space,
                                     const History& history);

// `count` points, the most telling first, chosen together: each knows that
// those before it will have been run, and so will the open ones, none of which
// is asked again. Fewer where nothing else is left to ask.
absl::StatusOr<std::vector<AskedTrial>> AskTrials(
    const PlanBasis& basis, const std::vector<const Point*>& open,
    const PlanOptions& options, int count);
// The same with the open trials of `history`.
absl::StatusOr<std::vector<AskedTrial>> AskTrials(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options, int count);

struct Rival {
  std::string name;  // "plan", "best trial", "all trained", "head only"
  Point point;
  Interval predicted;  // mean over seeds
  Interval one_run;
};

// The plan first, as MakePlan predicts it; rivals at the same point are left
// out.
absl::StatusOr<std::vector<Rival>> PlanRivals(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options);
absl::StatusOr<std::vector<Rival>> PlanRivals(const PlanBasis& basis,
                                              const PlanOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_QUESTIONS_H_
