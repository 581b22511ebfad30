// SPDX-License-Identifier: Apache-2.0
//
// File: tree_box.h
//
// The boxes into which a tree cuts the space. Along each axis a tree's
// splits make cells; a box is a range of them, or of an unordered axis a
// subset. Masses are shares of the axis.
#ifndef FROSTLINE_IMPORTANCE_FOREST_TREE_BOX_H_
#define FROSTLINE_IMPORTANCE_FOREST_TREE_BOX_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/measure/measured_axis.h"

namespace frostline::importance {

// The cells of one axis: cell c has the mass before[c + 1] - before[c].
struct AxisCells {
  bool is_ordered = true;
  std::vector<double> before = {0.0, 1.0};

  std::size_t size() const { return before.size() - 1; }
  double MassOf(std::size_t begin, std::size_t end) const {
    return before[end] - before[begin];
  }
};

// Of a tree: the cells of every axis, and for every node that splits an
// ordered axis the first cell that goes right.
struct TreeCells {
  std::vector<AxisCells> axes;
  std::vector<std::uint32_t> cut_of_node;
};

TreeCells MakeCells(const Tree& tree, const std::vector<MeasuredAxis>& axes);

using CellRun = std::pair<std::uint32_t, std::uint32_t>;  // [begin, end)

// The box of a node while a tree is walked; starts as the whole space.
class TreeBox {
 public:
  // Keeps references to both.
  TreeBox(const Tree& tree, const TreeCells& cells);

  // Cuts the box down to one child of a node that splits. Where nothing of the
  // box is on that side, the mass along the node's axis is 0 afterwards.
  void Enter(std::size_t node, bool left);
  // Undoes the last Enter that was not undone.
  void Leave();

  // Calls visit(child, share) for the children of `node` that the box reaches,
  // the box cut down to each, with the share of it that is the child's.
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
  // Appends the cells of the box along an axis, as maximal runs.
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
  // Of unordered axes, whose run is the place of their members in here.
  std::vector<bool> members_;
  std::vector<bool> members_before_;  // in the order of entered_
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_TREE_BOX_H_
