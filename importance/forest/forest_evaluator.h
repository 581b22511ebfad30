// SPDX-License-Identifier: Apache-2.0
//
// File: forest_evaluator.h
//
// Evaluates with forests. Replicates draw trials anew and grow a small forest
// on each draw (a bootstrap of little bags: Sexton and Laake, 2009), so they
// spread with trials and trees. What chance gives an axis is measured on a copy
// of shuffled rows (the shadow features of Kursa and Rudnicki, 2010).
#ifndef FROSTLINE_IMPORTANCE_FOREST_FOREST_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_FOREST_FOREST_EVALUATOR_H_

#include <cstdint>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/forest/fanova.h"
#include "importance/measure/dataset.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

inline constexpr int kTreesPerBag = 8;  // of a replicate
inline constexpr int kShuffles = 16;    // as many trees, every axis twice

// Counts in trees of every axis once.
constexpr int TreesForIntervals(int replicates) {
  return (replicates + 2 * kShuffles) * kTreesPerBag;
}

// After a stop replicates are empty, and so are shares by chance.
std::vector<Shares> Replicate(const Dataset& data, int count,
                              std::uint64_t seed,
                              const std::vector<std::size_t>& pair_axes,
                              int threads = 1, const NamedSubsets& subsets = {},
                              const std::stop_token& stop = {});

// Returns by axis the largest main share of a shuffled copy.
std::vector<double> ChanceMainShares(const Dataset& data, std::uint64_t seed,
                                     int threads = 1,
                                     const std::stop_token& stop = {});

// Pairs are taken among those of largest main effect.
inline constexpr std::size_t kMaxPairParameters = 64;

absl::StatusOr<Report> EvaluateForest(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_FOREST_EVALUATOR_H_
