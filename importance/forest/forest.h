// SPDX-License-Identifier: Apache-2.0
//
// File: forest.h
//
// A random forest (Breiman, "Random Forests", 2001): every tree is grown until
// its leaves are pure, on as many rows as there are, drawn with replacement,
// with all axes at every split. The 37 % of rows not drawn say how well it
// predicts.
//
//   const Forest forest = FitForest(data, data.targets, weights, 64, seed, 0);
//   OutOfBagR2(data, forest);   // 0.8: the trees predict most of the variance
#ifndef FROSTLINE_IMPORTANCE_FOREST_FOREST_H_
#define FROSTLINE_IMPORTANCE_FOREST_FOREST_H_

#include <cstdint>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/measure/dataset.h"

namespace frostline::importance {

// How often each row counts.
using RowWeights = std::vector<std::uint32_t>;

struct Forest {
  std::vector<Tree> trees;
  std::vector<RowWeights> drawn;  // by tree
};

// As many draws with replacement as `among` counts.
RowWeights DrawRows(const RowWeights& among, Rng& rng);

// Tree t draws from Rng(seed, stream + t) alone: the same to the bit for any
// number of threads (parallel.h).
Forest FitForest(const Dataset& data, const std::vector<double>& targets,
                 const RowWeights& among, int trees, std::uint64_t seed,
                 std::uint64_t stream, int threads = 1);

// Of mean predictions by trees that have not seen a row; NaN without.
double OutOfBagR2(const Dataset& data, const Forest& forest, int threads = 1);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_FOREST_H_
