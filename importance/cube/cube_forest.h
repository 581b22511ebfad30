// SPDX-License-Identifier: Apache-2.0
//
// File: cube_forest.h
//
// Optuna lets scikit-learn grow such a forest: rates are in their own unit,
// numbers in single precision and not split where nearer than 1e-7, a choice or
// a level against all others. With other dice, it is the same in the mean only.
#ifndef FROSTLINE_IMPORTANCE_CUBE_CUBE_FOREST_H_
#define FROSTLINE_IMPORTANCE_CUBE_CUBE_FOREST_H_

#include <cstdint>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "importance/cube/column_tree.h"
#include "importance/measure/selection.h"
#include "study/space.h"

namespace frostline::importance {

struct CubeData {
  // A parameter of every trial counts, if it varies.
  struct Axis {
    std::size_t first_column = 0;
    bool is_number = false;
    // This is a number's place in `numbers`, or which choice it is.
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

// REQUIRES: there is a trial; losses are finite and not all equal.
CubeData MakeCubeData(const Space& space, const Selection& selection);

using CubeWeights = std::vector<std::uint32_t>;

// Draws with replacement, as many as `among` counts.
CubeWeights DrawCubeRows(const CubeWeights& among, Rng& rng);

struct CubeForest {
  std::vector<ColumnTree> trees;
  std::vector<CubeWeights> drawn;
};

// Tree t draws from Rng(seed, stream + t) alone.
CubeForest GrowCubeForest(const CubeData& data,
                          const std::vector<double>& targets,
                          const CubeWeights& among, int trees,
                          std::uint64_t seed, std::uint64_t stream,
                          int threads = 1, const std::stop_token& stop = {});

// Asks trees that have not seen a row; NaN without.
double OutOfBagR2(const CubeData& data, const CubeForest& forest);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CUBE_CUBE_FOREST_H_
