// SPDX-License-Identifier: Apache-2.0
//
// File: column_tree.h
//
// Peers grow trees over columns: a number is a column, a choice one of 0 or 1
// for each value.
#ifndef FROSTLINE_IMPORTANCE_CUBE_COLUMN_TREE_H_
#define FROSTLINE_IMPORTANCE_CUBE_COLUMN_TREE_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"

namespace frostline::importance {

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

// Goes by node; a leaf's feature is below 0. `weight` may be empty.
struct TreeArrays {
  std::vector<int> feature;
  std::vector<double> threshold;
  std::vector<int> left;
  std::vector<int> right;
  std::vector<double> value;
  std::vector<double> weight;
};

// Answers REQUEST_INVALID for arrays that are no tree over so many columns.
absl::StatusOr<ColumnTree> ImportTree(const TreeArrays& arrays,
                                      std::size_t columns);

// Returns the mean decrease of impurity (Breiman, 2001): what a group's splits
// took off the squared error, in parts, averaged over trees with splits; all 0
// without.
std::vector<double> ImpurityShares(const std::vector<ColumnTree>& trees,
                                   const std::vector<ColumnGroup>& groups);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CUBE_COLUMN_TREE_H_
