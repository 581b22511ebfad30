// SPDX-License-Identifier: Apache-2.0
//
// File: column_tree.h
//
// A regression tree over columns of plain numbers, as peers grow theirs:
// a number is a column as it is, a choice is one column for each of its values,
// 0 or 1. For reading forests that were recorded elsewhere, and for saying of
// our own trials what such a forest would say.
#ifndef FROSTLINE_IMPORTANCE_CUBE_COLUMN_TREE_H_
#define FROSTLINE_IMPORTANCE_CUBE_COLUMN_TREE_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"

namespace frostline::importance {

// The ends of a column; REQUIRES: low < high.
struct Column {
  double low = 0.0;
  double high = 1.0;
};

// The columns that make up one parameter; none for one that is left out.
using ColumnGroup = std::vector<std::size_t>;

struct ColumnNode {
  int column = -1;         // -1: a leaf
  double threshold = 0.0;  // numbers up to it go left
  std::size_t left = 0;
  std::size_t right = 0;
  double value = 0.0;   // mean target of the rows that came here
  double weight = 0.0;  // how many those are
};

// Children come after their parent; the root is first. Never empty.
using ColumnTree = std::vector<ColumnNode>;

// A tree as parallel arrays, one entry for each node; a leaf has a feature
// below 0. `weight` may be empty where nobody asks for it.
struct TreeArrays {
  std::vector<int> feature;
  std::vector<double> threshold;
  std::vector<int> left;
  std::vector<int> right;
  std::vector<double> value;
  std::vector<double> weight;
};

// REQUEST_INVALID when the arrays are no tree over so many columns.
absl::StatusOr<ColumnTree> ImportTree(const TreeArrays& arrays,
                                      std::size_t columns);

// Mean decrease of impurity (Breiman, 2001): for each group the part of what
// all splits together took off the squared error, averaged over the trees that
// have splits; they sum to one. All 0 when no tree has.
std::vector<double> ImpurityShares(const std::vector<ColumnTree>& trees,
                                   const std::vector<ColumnGroup>& groups);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CUBE_COLUMN_TREE_H_
