// SPDX-License-Identifier: Apache-2.0
//
// File: forest.h
//
// A random forest (Breiman, "Random Forests", 2001) grows every tree until its
// leaves are pure, on as many rows as there are, drawn with replacement, with
// all axes at every split. The 37 % of rows not drawn say how well it predicts.
//
//   const Forest forest = FitForest(data, data.targets, weights, 64, seed, 0);
//   OutOfBagR2(data, forest);   // 0.8: the trees predict most of the variance
#ifndef FROSTLINE_IMPORTANCE_FOREST_FOREST_H_
#define FROSTLINE_IMPORTANCE_FOREST_FOREST_H_

#include <cstdint>
#include <stop_token>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/measure/dataset.h"

namespace frostline::importance {

using RowWeights = std::vector<std::uint32_t>;  // how often each counts

struct Forest {
  std::vector<Tree> trees;
  std::vector<RowWeights> drawn;  // by tree
};

// Draws with replacement, as many as `among` counts.
RowWeights DrawRows(const RowWeights& among, Rng& rng);

// Tree t draws from Rng(seed, stream + t) alone (parallel.h).
Forest FitForest(const Dataset& data, const std::vector<double>& targets,
                 const RowWeights& among, int trees, std::uint64_t seed,
                 std::uint64_t stream, int threads = 1,
                 const std::stop_token& stop = {});

// Takes mean predictions by trees that have not seen a row; NaN without.
double OutOfBagR2(const Dataset& data, const Forest& forest, int threads = 1);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_FOREST_H_
