// SPDX-License-Identifier: Apache-2.0
//
// File: marginal.h
//
// Marginals of a tree and their variances. A tree f is constant on boxes, so a
// marginal is a sum over leaves (Hutter, Hoos and Leyton-Brown, "An Efficient
// Approach for Assessing Hyperparameter Importance", ICML 2014, eq. 4), and a
// variance one over the cells that splits make (eqs. 7 and 8). With V = Var f:
//
//   main effect  V_i  = Var E[f | x_i]
//   pair         V_ij = Var E[f | x_i, x_j] - V_i - V_j
//   total        T_i  = V - Var E[f | all but x_i]   (Sobol, 1993)
//
// There is an entry for each axis split on the way to a leaf. A pair is swept
// along one axis with one row of the other, so nothing is as large as a product
// of axes. A total walks the tree with two points that differ in x_i alone.
#ifndef FROSTLINE_IMPORTANCE_FOREST_MARGINAL_H_
#define FROSTLINE_IMPORTANCE_FOREST_MARGINAL_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "importance/forest/forest.h"
#include "importance/measure/dataset.h"

namespace frostline::importance {

// A tree cuts the space into boxes: ranges of the cells that splits make along
// an axis, or subsets of an unordered one. Masses are shares of the axis.

// Cell c has the mass before[c + 1] - before[c].
struct AxisCells {
  bool is_ordered = true;
  std::vector<double> before = {0.0, 1.0};

  std::size_t size() const { return before.size() - 1; }
  double MassOf(std::size_t begin, std::size_t end) const {
    return before[end] - before[begin];
  }
};

struct TreeCells {
  std::vector<AxisCells> axes;
  // The first cell that goes right, by node that splits an ordered axis.
  std::vector<std::uint32_t> cut_of_node;
};

TreeCells MakeCells(const Tree& tree, const std::vector<MeasuredAxis>& axes);

using CellRun = std::pair<std::uint32_t, std::uint32_t>;  // [begin, end)

// The box of a node on a walk; at first the whole space.
class TreeBox {
 public:
  // Keeps references.
  TreeBox(const Tree& tree, const TreeCells& cells);

  // Cuts the box down to a child. The axis' mass is 0 where none of it is
  // there.
  void Enter(std::size_t node, bool left);
  // Undoes the last Enter not undone.
  void Leave();

  // Calls visit(child, share) for the children reached, cut down to each;
  // `share` is the child's part.
  template <typename Visit>
  void EnterChildren(std::size_t node, const Visit& visit) {
    const TreeNode& here = tree_.nodes[node];
    const auto axis = static_cast<std::size_t>(here.axis);
    const double whole = mass(axis);
    for (const bool left : {true, false}) {
      Enter(node, left);
      const double part = mass(axis);
      if (part > 0.0) {
        visit(static_cast<std::size_t>(left ? here.left : here.right),
              part / whole);
      }
      Leave();
    }
  }

  double mass(std::size_t axis) const { return sides_[axis].mass; }
  // Appends maximal runs of cells along an axis.
  void AppendRuns(std::size_t axis, std::vector<CellRun>& runs) const;

 private:
  struct Side {
    CellRun run;
    double mass = 1.0;
  };
  struct Entered {
    std::size_t axis = 0;
    Side before;
  };

  void CutChoices(const TreeNode& split, bool left, std::size_t axis);

  const Tree& tree_;
  const TreeCells& cells_;
  std::vector<Side> sides_;
  std::vector<Entered> entered_;
  // Unordered axes have their run as a place in here.
  std::vector<bool> members_;
  std::vector<bool> members_before_;  // in the order of entered_
};

// The marginals of one tree. Keeps a reference to the tree.
class TreeMarginals {
 public:
  TreeMarginals(const Tree& tree, const std::vector<MeasuredAxis>& axes);

  double variance() const { return variance_; }

  // Returns the main effect less its mean, at shares of an ordered axis
  // (MeasuredAxis::Probes).
  std::vector<double> CurveAt(std::size_t axis,
                              const std::vector<double>& places) const;

  // Returns Var E[f | x_i].
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

// With all interactions (Sobol, 1993) each axis explains exactly
//
//   T_i = E Var[f | all but x_i] = E (f(x) - f(x'))^2 / 2   (Jansen, 1999)
//
// where x' differs in axis i alone. They are in two leaves only if the node
// where the leaves' paths part splits on i: so a pair of leaves counts for one
// axis at most, and one walk finds all totals.
//
// Returns variances by axis. `mean` is that of the tree over the space.
std::vector<double> TotalVariancesOf(const Tree& tree, const TreeCells& cells,
                                     double mean);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_MARGINAL_H_
