// SPDX-License-Identifier: Apache-2.0
//
// File: stability.h
//
// Whether the ranking would still change with more trials: rankings over
// growing beginnings of the study, agreement of two halves, and how many more
// trials are likely to settle it.
//
// Settled means: the ranking has not changed over the last fifth of the study,
// and it is unlikely (5 % over Report.main_draws, 10 % over what halves of the
// trials say against each other) that a parameter ranked lower has clearly more
// to say than one ranked above it. Clearly is by a fifth of its own share and
// by .01 (rank_agreement.h): equals do not keep a study unsettled for ever, and
// of two so near each other the order may be wrong.
#ifndef FROSTLINE_IMPORTANCE_RANKING_STABILITY_H_
#define FROSTLINE_IMPORTANCE_RANKING_STABILITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/evaluator.h"

namespace frostline::importance {

enum class StabilityState { kSettled, kNotSettled, kTooFewTrials };

struct StabilityVerdict {
  StabilityState state = StabilityState::kTooFewTrials;
  // "ranking settled after 140 trials", "not settled: about 40 more trials".
  std::string sentence;
  std::int64_t settled_after = 0;  // trials; 0 unless settled
  // As uncertainty falls with the root of the trials (those left once the
  // levels' effects are paid for), and if what is now ranked is the truth; 0
  // when settled, or when nobody can say.
  std::int64_t more_trials = 0;
  // Kendall's tau between two halves' rankings: the mean over random halvings,
  // and where one more halving would lie. So it is how far two studies of half
  // this size agree; two of this size agree better. NaN when too few trials.
  Interval half_tau;
};

struct StabilityPoint {
  std::int64_t trials = 0;  // the first so many of those that can be used
  std::vector<ParameterImportance> parameters;  // in the space's order
  double tau_to_final = 0.0;
};

struct Stability {
  StabilityVerdict verdict;
  std::vector<StabilityPoint> points;  // by rising trials; the last has all
};

inline constexpr int kMaxStabilityPoints = 100;

// `points`: how many beginnings, evenly spread; 0 stands for 20. Each is
// evaluated as if the study had ended there; those that cannot be (all values
// the same, say) have no point. Errors as Evaluate's, but too few trials are a
// verdict, not an error; REQUEST_INVALID for a number of points out of range.
// Costs as much as evaluating all trials about 20 times without intervals; of
// very many trials and parameters it is fewer parts, with fewer trees
// (part_counts.h), and points may be fewer than asked for.
absl::StatusOr<Stability> EvaluateStability(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options, int points);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_STABILITY_H_
