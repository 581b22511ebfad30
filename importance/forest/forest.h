// SPDX-License-Identifier: Apache-2.0
//
// File: forest.h
//
// A random forest (Breiman, 2001): every tree is grown on as many rows as there
// are, drawn with replacement, and looks at all axes at every split.
#ifndef FROSTLINE_IMPORTANCE_FOREST_FOREST_H_
#define FROSTLINE_IMPORTANCE_FOREST_FOREST_H_

#include <cstdint>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/measure/dataset.h"

namespace frostline {

// How often each row counts.
using RowWeights = std::vector<std::uint32_t>;

struct Forest {
  std::vector<Tree> trees;
  std::vector<RowWeights> drawn;  // the rows each tree has seen
};

// As many draws with replacement as `among` counts rows, out of those.
RowWeights DrawRows(const RowWeights& among, Rng& rng);

// Tree t draws from Rng(seed, stream + t) and from nothing else, so that the
// forest is the same to the bit for any number of threads (parallel.h).
Forest FitForest(const Dataset& data, const std::vector<double>& targets,
                 const RowWeights& among, int trees, std::uint64_t seed,
                 std::uint64_t stream, int threads = 1);

// R² of every row's mean prediction by the trees that have not seen it. NaN
// when there is no such row.
double OutOfBagR2(const Dataset& data, const Forest& forest, int threads = 1);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_FOREST_FOREST_H_
