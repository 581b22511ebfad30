// SPDX-License-Identifier: Apache-2.0
//
// File: cube_forest.h
//
// A forest on our own trials, grown as Optuna lets scikit-learn grow its: a
// learning rate in its own units and not in the logarithm, numbers cut to
// single precision and not split where nearer than 1e-7, a choice or a level
// against all others. Not the same dice, so the same forest in the mean only.
#ifndef FROSTLINE_IMPORTANCE_CUBE_CUBE_FOREST_H_
#define FROSTLINE_IMPORTANCE_CUBE_CUBE_FOREST_H_

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "importance/cube/column_tree.h"
#include "importance/measure/selection.h"
#include "study/space.h"

namespace frostline::importance {

// The trials as such a forest reads them.
struct CubeData {
  // One parameter that is in every trial and has more than one value.
  struct Axis {
    std::size_t first_column = 0;
    bool is_number = false;
    // Of a number its place among `numbers`; of a choice which it is.
    std::vector<std::uint32_t> code_of_row;
    std::vector<float> numbers;  // rising
    std::size_t choices = 0;
  };
  std::vector<Axis> axes;
  std::vector<Column> columns;
  std::vector<ColumnGroup> groups;  // by parameter; empty: left out
  std::vector<int> partial;         // parameters that some trial lacks
  std::vector<double> targets;      // losses, scaled to [-1, 1]

  std::size_t rows() const { return targets.size(); }
};

// REQUIRES: at least one trial, losses finite and not all equal.
CubeData MakeCubeData(const Space& space, const Selection& selection);

// How often each row counts.
using CubeWeights = std::vector<std::uint32_t>;

// As many rows with replacement as `among` counts.
CubeWeights DrawCubeRows(const CubeWeights& among, Rng& rng);

struct CubeForest {
  std::vector<ColumnTree> trees;
  std::vector<CubeWeights> drawn;
};

// Tree t draws from Rng(seed, stream + t) and from nothing else: the same for
// any number of threads (parallel.h).
CubeForest GrowCubeForest(const CubeData& data,
                          const std::vector<double>& targets,
                          const CubeWeights& among, int trees,
                          std::uint64_t seed, std::uint64_t stream,
                          int threads = 1);

// R² of the trees that have not seen a row; NaN when there is no such row.
double OutOfBagR2(const CubeData& data, const CubeForest& forest);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CUBE_CUBE_FOREST_H_
