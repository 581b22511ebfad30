// SPDX-License-Identifier: Apache-2.0
//
// File: stability.h
//
// Settled means no change over the last fifth of the study, and that hardly
// ever (5 % of Report.main_draws, 10 % of what halves say against each other) a
// lower parameter has clearly more than a higher: by a fifth of its share and
// by .01 (rank_agreement.h), so that equals do not keep it unsettled.
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
  std::string sentence;
  std::int64_t settled_after = 0;  // trials; 0: not settled
  // Uncertainty falls with the root of the trials (less those that the levels'
  // effects take), if the present ranking is true; 0 is settled, or unknown.
  std::int64_t more_trials = 0;
  // Kendall's tau is a mean over random halvings, and its ends say where one
  // more would lie: so far do two studies of half this size agree; NaN for too
  // few trials.
  Interval half_tau;
};

struct StabilityPoint {
  std::int64_t trials = 0;                      // so many first usable ones
  std::vector<ParameterImportance> parameters;  // in the space's order
  double tau_to_final = 0.0;
};

struct Stability {
  StabilityVerdict verdict;
  std::vector<StabilityPoint> points;  // by rising trials; the last has all
};

inline constexpr int kMaxStabilityPoints = 100;

// Evaluates `points` beginnings (0 means 20), evenly spread, as if the study
// ended there. Errors are Evaluate's, but too few trials are a verdict;
// REQUEST_INVALID comes for `points` out of range. Costs about 20 evaluations
// without intervals, less for large studies (part_counts.h).
absl::StatusOr<Stability> EvaluateStability(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options, int points);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_STABILITY_H_
