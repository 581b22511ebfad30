// SPDX-License-Identifier: Apache-2.0
//
// File: cube_forest.h
//
// A random forest over columns, as Optuna lets scikit-learn grow it. Rates are
// in their own unit, numbers in single precision and not split where nearer
// than 1e-7, and a choice or a level is split off all others. Its random
// numbers are others than scikit-learn's, so it is the same in the mean only.
#ifndef FROSTLINE_IMPORTANCE_CUBE_CUBE_FOREST_H_
#define FROSTLINE_IMPORTANCE_CUBE_CUBE_FOREST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "base/rng.h"
#include "importance/measure/selection.h"
#include "study/space.h"

namespace frostline::importance {

// Peers grow trees over columns: a number is a column, a choice one of 0 or 1
// for each value.

// REQUIRES: low < high.
struct Column {
  double low = 0.0;
  double high = 1.0;
};

using ColumnGroup = std::vector<std::size_t>;  // a parameter's; none: left out

struct ColumnNode {
  int column = -1;         // -1: a leaf
  double threshold = 0.0;  // numbers up to it go left
  std::size_t left = 0;
  std::size_t right = 0;
  double value = 0.0;  // mean target of its rows
  double weight = 0.0;
};

// Children come after their parent, the root is first. It is never empty.
using ColumnTree = std::vector<ColumnNode>;

// A tree as arrays by node; the feature of a leaf is below 0. `weight` may be
// empty.
struct TreeArrays {
  std::vector<int> feature;
  std::vector<double> threshold;
  std::vector<int> left;
  std::vector<int> right;
  std::vector<double> value;
  std::vector<double> weight;
};

// Fails with REQUEST_INVALID for arrays that are no tree over so many columns.
absl::StatusOr<ColumnTree> ImportTree(const TreeArrays& arrays,
                                      std::size_t columns);

// Returns the mean decrease of impurity (Breiman, 2001): what a group's splits
// took off the squared error, in parts, averaged over trees with splits; all 0
// without.
std::vector<double> ImpurityShares(const std::vector<ColumnTree>& trees,
                                   const std::vector<ColumnGroup>& groups);

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

// Draws rows with replacement, as many as `among` counts.
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

// Predicts each row by trees that have not seen it; NaN without any.
double OutOfBagR2(const CubeData& data, const CubeForest& forest);

// Grows one tree of a cube forest.
class CubeGrower {
 public:
  // Keeps references. Row r counts weights[r] times; REQUIRES: not all are 0.
  // After a stop nothing is split any more.
  CubeGrower(const CubeData& data, const std::vector<double>& targets,
             const CubeWeights& weights, Rng& rng, const std::stop_token& stop);

  ColumnTree Grow();

 private:
  struct Bin {
    double weight = 0.0;
    double sum = 0.0;  // of weight * target
  };
  struct Split {
    std::size_t axis = 0;
    // For a number, the last code that goes left; for a choice, the code that
    // goes right.
    std::uint32_t code = 0;
    int column = -1;  // -1: no split
    double threshold = 0.5;
    double score = 0.0;
  };

  void Collect(const CubeData::Axis& axis, std::span<const std::uint32_t> rows);
  void TryNumber(std::size_t axis);
  void TryChoices(std::size_t axis);
  void Offer(const Split& split);  // of equals any may win
  double ScoreOf(double left_weight, double left_sum) const;
  bool IsPure(std::span<const std::uint32_t> rows, ColumnNode& node);
  // Returns where the right child's rows begin; 0 makes a leaf.
  std::size_t SplitNode(std::size_t node, std::span<std::uint32_t> rows);

  const CubeData& data_;
  const std::vector<double>& targets_;
  const CubeWeights& weights_;
  Rng& rng_;
  const std::stop_token& stop_;
  std::vector<std::uint32_t> rows_;
  std::vector<Bin> table_;            // by code; empty between axes
  std::vector<std::uint32_t> codes_;  // the node's, rising
  Bin all_;                           // of the node
  Split best_;
  std::uint64_t equals_ = 0;
  ColumnTree tree_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CUBE_CUBE_FOREST_H_
