// SPDX-License-Identifier: Apache-2.0
//
// File: beginnings.h
#ifndef FROSTLINE_IMPORTANCE_RANKING_BEGINNINGS_H_
#define FROSTLINE_IMPORTANCE_RANKING_BEGINNINGS_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/evaluator.h"
#include "importance/ranking/part_counts.h"
#include "importance/ranking/stability.h"

namespace frostline::importance {

// Refers to all of it.
struct StudyParts {
  const Space& space;
  const std::vector<Objective>& objectives;
  const std::vector<const Observation*>& trials;  // by number
  const EvaluateOptions& options;
  PartCounts counts;
};

// By parameter.
std::vector<double> MainShares(
    const std::vector<ParameterImportance>& parameters);

// At most counts.points - 1, of kMinTrials and more, without the whole and what
// cannot be evaluated. tau_to_final stays 0.
absl::StatusOr<std::vector<StabilityPoint>> EvaluateBeginnings(
    const StudyParts& parts);

// Main shares of two random halves of the trials.
struct Halving {
  std::vector<double> first;
  std::vector<double> second;
};

// At most counts.halvings, likewise.
absl::StatusOr<std::vector<Halving>> EvaluateHalvings(const StudyParts& parts);

// As likely as `values`: half the difference of halves varies as the whole, if
// linear in the trials (McCarthy, "Pseudo-replication: half samples", 1969).
// Two for each halving.
std::vector<std::vector<double>> HalfSampleDraws(
    const std::vector<double>& values, const std::vector<Halving>& halvings);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_BEGINNINGS_H_
