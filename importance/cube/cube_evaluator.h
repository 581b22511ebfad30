// SPDX-License-Identifier: Apache-2.0
//
// File: cube_evaluator.h
//
// The functional ANOVA of a forest as Optuna has it: over the whole box of a
// tree's columns, also where a choice has several values, or none. Of C choices
// 2^C points are integrated over, and the one split on first weighs half, not
// 1/C.
//
// Variances come from the boxes that splits on a group's columns make, pair by
// pair, or along one column in one sweep.
#ifndef FROSTLINE_IMPORTANCE_CUBE_CUBE_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_CUBE_CUBE_EVALUATOR_H_

#include <compare>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/cube/cube_forest.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

// A tree over columns, and the variances of its marginals.
class CubeTree {
 public:
  // Keeps a reference to the tree. REQUIRES: its columns are in `columns`.
  CubeTree(const ColumnTree& tree, const std::vector<Column>& columns);

  double variance() const { return variance_; }  // over the box of all columns

  // Returns the variance of the mean, given the group's columns.
  double MarginalVariance(const ColumnGroup& group) const;

 private:
  struct Side {
    std::size_t column = 0;
    double low = 0.0;  // in shares of the column
    double high = 1.0;
    bool operator==(const Side& other) const = default;
    auto operator<=>(const Side& other) const = default;
  };
  struct Box {                // part of a box in the group's columns
    std::vector<Side> sides;  // by column, where cut
    double value = 0.0;
  };

  std::vector<Box> BoxesOf(const ColumnGroup& group) const;
  static Side& SideOf(Box& box, std::size_t column);
  static double CommonMass(const Box& a, const Box& b);
  static double SweepOneColumn(const std::vector<Box>& boxes);
  static double SumOverPairs(const std::vector<Box>& boxes);

  const ColumnTree& tree_;
  std::vector<double> left_share_;  // of a node's box
  std::vector<double> place_;       // of its threshold, 0 … 1
  std::vector<double> mean_;        // over the node's box
  std::size_t columns_ = 0;
  double variance_ = 0.0;
};

// Averages by group over trees with variance; all is 0 without.
std::vector<double> CubeShares(const std::vector<ColumnTree>& trees,
                               const std::vector<Column>& columns,
                               const std::vector<ColumnGroup>& groups,
                               int threads = 1,
                               const std::stop_token& stop = {});

// Returns shares over the cube, not normalised.
absl::StatusOr<Report> EvaluateFanovaOptuna(const Space& space,
                                            const Selection& selection,
                                            const EvaluateOptions& options);

// Returns shares of what splits took off the error, of sum 1.
absl::StatusOr<Report> EvaluateMdi(const Space& space,
                                   const Selection& selection,
                                   const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CUBE_CUBE_EVALUATOR_H_
