// SPDX-License-Identifier: Apache-2.0
//
// File: plan_trials.h
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_TRIALS_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_TRIALS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/study_plan.h"

namespace frostline::importance {

// An open question: how much more is `better` worth than `worse`?
struct OpenQuestion {
  std::size_t better = 0;  // places among the points
  std::size_t worse = 0;
  std::string reason;  // "tells whether layer.2 is worth training"
};

struct QuestionPoints {
  std::vector<PlanChoice> points;  // each once
  std::vector<OpenQuestion> questions;
  // These are places of open trials, with repeats: they are not to be asked.
  std::vector<std::size_t> told;
};

// Finds the questions of a plan (what it costs to freeze each module, and what
// the plan gains over its strongest rival) and points that answer them: the
// points in question, some near the plan and the best trial, and some all over
// the space. If there are very many `open` trials, it looks at the first.
QuestionPoints FindQuestions(const PlanSearch& search, const PlanChoice& plan,
                             const std::vector<const Point*>& open);

struct AskedTrial {
  Point point;
  // It and those before it take away this part, 0 … 1, of the uncertainty
  // (variance of what freezing modules costs, and of the plan's gain), once
  // open trials have ended.
  double expected_reduction = 0.0;
  std::string reason;  // "tells whether layer.2 is worth training"
};

std::vector<const Point*> OpenPoints(const Space& space,
                                     const History& history);  // not ended

// Returns at most `count` points, the most telling first, each knowing those
// before it and the open ones, which are not asked again.
absl::StatusOr<std::vector<AskedTrial>> AskTrials(
    const PlanBasis& basis, const std::vector<const Point*>& open,
    const PlanOptions& options, int count);
// Takes the open ones of `history`.
absl::StatusOr<std::vector<AskedTrial>> AskTrials(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options, int count);

struct Rival {
  std::string name;  // "plan", "best trial", "all trained", "head only"
  Point point;
  Interval predicted;  // mean over seeds
  Interval one_run;
};

// Returns the plan first, as MakePlan has it; rivals at the same point are left
// out.
absl::StatusOr<std::vector<Rival>> PlanRivals(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options);
absl::StatusOr<std::vector<Rival>> PlanRivals(const PlanBasis& basis,
                                              const PlanOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_TRIALS_H_
