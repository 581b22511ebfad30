// SPDX-License-Identifier: Apache-2.0
//
// File: plan_trials.h
//
// The trials that a plan asks for: where its questions are open, its rivals,
// and what came of them.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_TRIALS_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_TRIALS_H_

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/study_plan.h"
#include "importance/report.h"
#include "statistics/compare.h"
#include "study/objective.h"

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
// before it and the open ones, which are not asked again. Beside the plan's
// questions it asks whether the smallest set that may be enough is
// (FindOpenSet).
absl::StatusOr<std::vector<AskedTrial>> AskTrials(
    const PlanBasis& basis, const std::vector<const Point*>& open,
    const PlanOptions& options, int count);
// Takes the open ones of `history`.
absl::StatusOr<std::vector<AskedTrial>> AskTrials(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options, int count);

// Returns the plan with every module trained that can be, others' values chosen
// anew; nullopt where no few changes do that.
std::optional<PlanChoice> AllTrained(const PlanSearch& search,
                                     const PlanChoice& plan);

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

// Compares a plan with its rivals, which ran with the same seeds, by the paired
// tests of statistics/compare.h.

struct RivalRuns {
  Interval predicted;  // mean over seeds, before it ran
  Interval one_run;
  statistics::Contender seen;
};

struct JudgedRival {
  Interval seen;        // mean of its runs
  Interval difference;  // to the first, over seeds of both
  // So far do equal points lie apart, 19 times in 20.
  double seed_noise = 0.0;
  double row_noise = 0.0;
  bool exceeds_seeds = false;
  bool exceeds_rows = false;
  // The p-value of "there is no difference", over seeds and rows if both are
  // known; adjusted by Holm over the rivals.
  double p = 0.0;
  double adjusted_p = 0.0;
};

struct Verification {
  std::vector<JudgedRival> rivals;
  double seed_deviation = 0.0;  // of one run, within a block
  std::int64_t rows = 0;        // 0: unknown
};

// The first rival is the plan, or what was applied in its place. Intervals of
// fewer than two runs are NaN, and noise without a degree of freedom. `chance`
// is of the bootstrap, which metrics that are no means over rows take. After a
// stop it is of no use.
Verification JudgeRuns(const std::vector<RivalRuns>& rivals,
                       std::uint64_t chance, const std::stop_token& stop);

// Says whether the plan, or what stands in its place, scored as predicted, and
// whether a rival beats it by more than noise.
std::string VerificationSentence(const Objective& objective,
                                 const std::vector<RivalRuns>& rivals,
                                 const Verification& judged);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_TRIALS_H_
