// SPDX-License-Identifier: Apache-2.0
//
// File: beginnings.h
//
// What parts of a study say by themselves: its beginnings, and random halves.
#ifndef FROSTLINE_IMPORTANCE_RANKING_BEGINNINGS_H_
#define FROSTLINE_IMPORTANCE_RANKING_BEGINNINGS_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/evaluator.h"
#include "importance/ranking/part_counts.h"
#include "importance/ranking/stability.h"

namespace frostline::importance {

// Trials that can be used, and how they are evaluated. Refers to all of it.
struct StudyParts {
  const Space& space;
  const std::vector<Objective>& objectives;
  const std::vector<const Observation*>& trials;  // by number
  const EvaluateOptions& options;
  PartCounts counts;
};

// Main shares by parameter.
std::vector<double> MainShares(
    const std::vector<ParameterImportance>& parameters);

// At most counts.points - 1 beginnings from kMinTrials on, without that of all
// trials; without those that cannot be evaluated. tau_to_final is left at 0.
absl::StatusOr<std::vector<StabilityPoint>> EvaluateBeginnings(
    const StudyParts& parts);

// Main shares that the two halves of one random halving have.
struct Halving {
  std::vector<double> first;
  std::vector<double> second;
};

// At most counts.halvings, without those that cannot be evaluated.
absl::StatusOr<std::vector<Halving>> EvaluateHalvings(const StudyParts& parts);

// Shares as likely as `values`: half the difference of two halves has the
// variance of the whole, for what is linear in the trials (McCarthy,
// "Pseudo-replication: half samples", 1969). Two for each halving.
std::vector<std::vector<double>> HalfSampleDraws(
    const std::vector<double>& values, const std::vector<Halving>& halvings);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_BEGINNINGS_H_
