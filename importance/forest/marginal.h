// SPDX-License-Identifier: Apache-2.0
//
// File: marginal.h
//
// A tree is constant on boxes, so a marginal is a sum over leaves (Hutter et
// al., 2014, eq. 4), a variance one over the cells that splits make (eqs. 7 and
// 8). There is an entry for each axis split on the way to a leaf; a pair is
// swept along one axis with one row of the other, so nothing is as large as a
// product of axes.
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

  double variance() const { return variance_; }

  // Returns the main effect less its mean, at shares of an ordered axis
  // (MeasuredAxis::Probes).
  std::vector<double> CurveAt(std::size_t axis,
                              const std::vector<double>& places) const;

  // Is Var E[f | x_i].
  double MainVariance(std::size_t axis) const;

  // Go beyond main effects, by i < j of the rising `axes`: (0,1), (0,2), …,
  // (1,2), ….
  std::vector<double> PairVariances(const std::vector<std::size_t>& axes) const;

  // Go by axis, with all interactions: E Var[f | all but x_i] (Sobol).
  std::vector<double> TotalVariances() const;

 private:
  struct LeafSide {
    std::size_t axis = 0;
    double mass = 1.0;
    std::size_t first_run = 0;
    std::size_t end_run = 0;
  };
  struct Leaf {
    double value = 0.0;  // less the mean
    double mass = 0.0;
    std::size_t first_side = 0;  // of axes split on the way, rising
    std::size_t end_side = 0;
  };
  struct PairLeaf {           // is split on both axes
    double rest = 0.0;        // value by mass along all other axes
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
  std::vector<std::size_t> first_of_;  // by axis: its first cell
  std::vector<double> effects_;        // by cell
  double mean_ = 0.0;
  double variance_ = 0.0;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_MARGINAL_H_
