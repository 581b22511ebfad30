// SPDX-License-Identifier: Apache-2.0
//
// File: marginal.h
//
// The exact decomposition of one tree's variance over the space (functional
// ANOVA, Hutter et al., 2014). A tree is constant on boxes, so a marginal
// is a sum over leaves (their eq. 4), and an effect's variance a sum over the
// cells that the splits make (eqs. 7 and 8): no grid of the space is ever
// listed, and nothing is sampled. What is kept is one entry for each axis that
// was split on the way to a leaf; a pair is swept along one of its axes with
// one row of the other, so that nothing is as large as a product of axes.
#ifndef FROSTLINE_IMPORTANCE_FOREST_MARGINAL_H_
#define FROSTLINE_IMPORTANCE_FOREST_MARGINAL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/forest/tree_box.h"
#include "importance/measure/measured_axis.h"

namespace frostline::importance {

// Keeps a reference to the tree.
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
  // i < j of `axes`, which rise: (0,1), (0,2), …, (1,2), ….
  std::vector<double> PairVariances(const std::vector<std::size_t>& axes) const;

  // With all interactions: E Var[f | all but x_i] (Sobol's total effect), by
  // axis.
  std::vector<double> TotalVariances() const;

 private:
  struct LeafSide {
    std::size_t axis = 0;
    double mass = 1.0;
    std::size_t first_run = 0;
    std::size_t end_run = 0;
  };
  struct Leaf {
    double value = 0.0;  // the mean taken away
    double mass = 0.0;
    // The axes that were split on the way, rising.
    std::size_t first_side = 0;
    std::size_t end_side = 0;
  };
  // A leaf that was split on both axes of a pair.
  struct PairLeaf {
    double rest = 0.0;        // its value, by its mass along all other axes
    std::uint32_t first = 0;  // of sides_
    std::uint32_t second = 0;
  };
  struct Scratch;

  void AddLeaves(std::size_t node, TreeBox& box,
                 std::vector<std::size_t>& splits,
                 std::vector<std::size_t>& split_axes);
  void AddLeaf(double value, const TreeBox& box,
               const std::vector<std::size_t>& split_axes);
  void FindMainEffects();
  double PairVariance(const PairLeaf* begin, const PairLeaf* end,
                      Scratch& scratch) const;

  const Tree& tree_;
  TreeCells cells_;
  std::vector<Leaf> leaves_;
  std::vector<LeafSide> sides_;
  std::vector<CellRun> runs_;
  std::vector<bool> is_split_;         // by axis
  std::vector<std::size_t> first_of_;  // by axis: its main effect's first cell
  std::vector<double> effects_;        // by cell
  double mean_ = 0.0;
  double variance_ = 0.0;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_MARGINAL_H_
