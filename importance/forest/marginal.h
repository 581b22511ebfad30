// SPDX-License-Identifier: Apache-2.0
//
// File: marginal.h
//
// The exact decomposition of one tree's variance over the space (functional
// ANOVA, Hutter et al., 2014). A tree is constant on boxes, so a marginal
// is a sum over leaves (their eq. 4), and an effect's variance a sum over the
// cells that the splits make (eqs. 7 and 8): no grid of the space is ever
// listed, and nothing is sampled.
#ifndef FROSTLINE_IMPORTANCE_FOREST_MARGINAL_H_
#define FROSTLINE_IMPORTANCE_FOREST_MARGINAL_H_

#include <cstddef>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/forest/tree_box.h"
#include "importance/measured_axis.h"

namespace frostline {

// Keeps references to the tree and the axes.
class TreeMarginals {
 public:
  TreeMarginals(const Tree& tree, const std::vector<MeasuredAxis>& axes);

  // Of the tree's prediction over the whole space.
  double variance() const { return variance_; }

  // The main effect of an axis at places given as shares of it (see
  // MeasuredAxis::Probes), with the mean taken away. Ordered axes only.
  std::vector<double> CurveAt(std::size_t axis,
                              const std::vector<double>& places) const;

  // Of the main effect: Var E[f | x_i].
  double MainVariance(std::size_t axis) const;

  // Of what a pair explains beyond its two main effects, for every pair
  // i < j of `axes`: (0,1), (0,2), …, (1,2), ….
  std::vector<double> PairVariances(const std::vector<std::size_t>& axes) const;

  // With all interactions: E Var[f | all but x_i] (Sobol's total effect).
  double TotalVariance(std::size_t axis) const;

 private:
  struct LeafSide {
    std::size_t axis = 0;
    double mass = 1.0;
    std::vector<CellRun> runs;
  };
  struct Leaf {
    double value = 0.0;  // the mean taken away
    double mass = 0.0;
    std::vector<LeafSide> sides;  // the axes that were split on the way
  };

  void AddLeaves(std::size_t node, TreeBox& box, std::vector<int>& splits);
  // Main effect by cell.
  std::vector<double> MainEffect(std::size_t axis) const;
  double PairVariance(const std::vector<const Leaf*>& leaves, std::size_t first,
                      std::size_t second) const;

  const Tree& tree_;
  TreeCells cells_;
  std::vector<Leaf> leaves_;
  std::vector<bool> is_split_;        // by axis
  std::vector<double> mass_of_node_;  // of leaves; 0 for others
  double mean_ = 0.0;
  double variance_ = 0.0;
};

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_FOREST_MARGINAL_H_
