// SPDX-License-Identifier: Apache-2.0
//
// File: stability.h
//
// Whether the ranking would still change with more trials: rankings over
// growing beginnings of the study, agreement of two halves, and how many more
// trials are likely to settle it.
#ifndef FROSTLINE_IMPORTANCE_STABILITY_H_
#define FROSTLINE_IMPORTANCE_STABILITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/evaluator.h"

namespace frostline {

enum class StabilityState { kSettled, kNotSettled, kTooFewTrials };

struct StabilityVerdict {
  StabilityState state = StabilityState::kTooFewTrials;
  // "ranking settled after 140 trials", "not settled: about 40 more trials".
  std::string sentence;
  std::int64_t settled_after = 0;  // trials used; 0 unless settled
  std::int64_t more_trials = 0;    // 0 when settled, or when nobody can say
  Interval half_tau;               // Kendall's tau between two halves' rankings
};

struct StabilityPoint {
  std::int64_t trials = 0;  // the first so many of those used
  std::vector<ParameterImportance> parameters;  // in the space's order
  double tau_to_final = 0.0;
};

struct Stability {
  StabilityVerdict verdict;
  std::vector<StabilityPoint> points;  // by rising trials; the last has all
};

inline constexpr int kMaxStabilityPoints = 100;

// `points`: how many beginnings; 0 stands for 20. Errors as Evaluate's, but
// too few trials are a verdict, not an error.
absl::StatusOr<Stability> EvaluateStability(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options, int points);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_STABILITY_H_
