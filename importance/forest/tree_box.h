// SPDX-License-Identifier: Apache-2.0
//
// File: tree_box.h
//
// A tree cuts the space into boxes: ranges of the cells that splits make along
// an axis, or subsets of an unordered one. Masses are shares of the axis.
#ifndef FROSTLINE_IMPORTANCE_FOREST_TREE_BOX_H_
#define FROSTLINE_IMPORTANCE_FOREST_TREE_BOX_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/measure/measured_axis.h"

namespace frostline::importance {

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
  // Has the first cell going right, by node that splits an ordered axis.
  std::vector<std::uint32_t> cut_of_node;
};

TreeCells MakeCells(const Tree& tree, const std::vector<MeasuredAxis>& axes);

using CellRun = std::pair<std::uint32_t, std::uint32_t>;  // [begin, end)

// This is the box of a node on a walk, and at first the whole space.
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

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_TREE_BOX_H_
