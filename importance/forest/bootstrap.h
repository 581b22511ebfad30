// SPDX-License-Identifier: Apache-2.0
//
// File: bootstrap.h
//
// How sure an importance is. Replicates draw the trials anew and grow a small
// forest on each draw (a bootstrap of little bags: Sexton and Laake, 2009), so
// their spread holds that of trials and that of trees. What chance alone gives
// an axis is measured beside the real ones, on a copy of it whose rows are
// shuffled (the shadow features of Kursa and Rudnicki, 2010).
#ifndef FROSTLINE_IMPORTANCE_FOREST_BOOTSTRAP_H_
#define FROSTLINE_IMPORTANCE_FOREST_BOOTSTRAP_H_

#include <cstdint>
#include <vector>

#include "importance/forest/fanova.h"
#include "importance/measure/dataset.h"

namespace frostline::importance {

inline constexpr int kTreesPerBag = 8;  // of a replicate
inline constexpr int kShuffles = 16;  // with as many trees, of every axis twice

// What so many replicates and the shuffles cost, in trees of every axis once.
constexpr int TreesForIntervals(int replicates) {
  return (replicates + 2 * kShuffles) * kTreesPerBag;
}

// `count` replicates, with `subsets` among their shares; the same for the same
// arguments, whatever the number of threads (parallel.h).
std::vector<Shares> Replicate(const Dataset& data, int count,
                              std::uint64_t seed,
                              const std::vector<std::size_t>& pair_axes,
                              int threads = 1,
                              const NamedSubsets& subsets = {});

// For every axis the largest main share that a shuffled copy of it had.
std::vector<double> ChanceMainShares(const Dataset& data, std::uint64_t seed,
                                     int threads = 1);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_BOOTSTRAP_H_
