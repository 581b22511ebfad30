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

struct StudyParts {  // refers to all of it
  const Space& space;
  const std::vector<Objective>& objectives;
  const std::vector<const Observation*>& trials;  // by number
  const EvaluateOptions& options;
  PartCounts counts;
};

std::vector<double> MainShares(
    const std::vector<ParameterImportance>& parameters);

// Takes at most counts.points - 1 beginnings that can be evaluated, never the
// whole. tau_to_final stays 0.
absl::StatusOr<std::vector<StabilityPoint>> EvaluateBeginnings(
    const StudyParts& parts);

struct Halving {  // main shares of two random halves
  std::vector<double> first;
  std::vector<double> second;
};

// Takes at most counts.halvings, likewise.
absl::StatusOr<std::vector<Halving>> EvaluateHalvings(const StudyParts& parts);

// Returns draws as likely as `values`, two for each halving: half the
// difference of halves varies as the whole, if linear in the trials (McCarthy,
// "Pseudo-replication: half samples", 1969).
std::vector<std::vector<double>> HalfSampleDraws(
    const std::vector<double>& values, const std::vector<Halving>& halvings);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_BEGINNINGS_H_
