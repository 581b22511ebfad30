// SPDX-License-Identifier: Apache-2.0
//
// File: cube_fanova.h
//
// Functional ANOVA as Optuna measures it: over the whole box of a tree's
// columns, also where a choice would have several values at once, or none.
// Of C choices C points of the cube exist and 2^C are integrated over; what is
// split on first weighs half, not 1/C. Here so that its answer can be set
// beside ours (fanova.h), not because it is right.
//
// An effect's variance is found from the boxes that the splits on its columns
// make, pair by pair, or along one column in one sweep. No point of a grid is
// ever listed.
#ifndef FROSTLINE_IMPORTANCE_CUBE_CUBE_FANOVA_H_
#define FROSTLINE_IMPORTANCE_CUBE_CUBE_FANOVA_H_

#include <compare>
#include <vector>

#include "importance/cube/column_tree.h"

namespace frostline::importance {

class CubeTree {
 public:
  // Keeps a reference to the tree. REQUIRES: its columns are in `columns`.
  CubeTree(const ColumnTree& tree, const std::vector<Column>& columns);

  // Of the tree's prediction over the box of all columns.
  double variance() const { return variance_; }

  // Of the mean prediction, given the columns of `group`.
  double MarginalVariance(const ColumnGroup& group) const;

 private:
  struct Side {
    std::size_t column = 0;
    double low = 0.0;  // in shares of the column
    double high = 1.0;
    bool operator==(const Side& other) const = default;
    auto operator<=>(const Side& other) const = default;
  };
  // Part of a box in the group's columns, and what it adds to the marginal.
  struct Box {
    std::vector<Side> sides;  // by column; only those that are cut
    double value = 0.0;
  };

  std::vector<Box> BoxesOf(const ColumnGroup& group) const;
  static Side& SideOf(Box& box, std::size_t column);
  static double CommonMass(const Box& a, const Box& b);
  static double SweepOneColumn(const std::vector<Box>& boxes);
  static double SumOverPairs(const std::vector<Box>& boxes);

  const ColumnTree& tree_;
  std::vector<double> left_share_;  // of a node's box that goes left
  std::vector<double> place_;       // of its threshold, 0 … 1 of the column
  std::vector<double> mean_;        // over the node's box
  std::size_t columns_ = 0;
  double variance_ = 0.0;
};

// For each group its share of the variance, averaged over the trees that have
// any. All 0 when none has. The same for any number of threads (parallel.h).
std::vector<double> CubeShares(const std::vector<ColumnTree>& trees,
                               const std::vector<Column>& columns,
                               const std::vector<ColumnGroup>& groups,
                               int threads = 1);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CUBE_CUBE_FANOVA_H_
