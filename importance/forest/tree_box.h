// SPDX-License-Identifier: Apache-2.0
//
// File: tree_box.h
//
// The boxes into which a tree cuts the space. Along each axis a tree's
// splits make cells; a box is a range of them, or of an unordered axis a
// subset. Masses are shares of the axis.
#ifndef FROSTLINE_IMPORTANCE_FOREST_TREE_BOX_H_
#define FROSTLINE_IMPORTANCE_FOREST_TREE_BOX_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/measured_axis.h"

namespace frostline {

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

  struct Side {
    CellRun run;
    std::vector<bool> members;  // unordered axes only
    double mass = 1.0;
  };

  // Cuts the box down to one child of a node that splits, and returns what
  // its side along the node's axis was before, for Restore.
  Side Enter(std::size_t node, bool left);
  void Restore(std::size_t node, Side side);

  double mass(std::size_t axis) const { return sides_[axis].mass; }
  // The cells of the box along an axis, as maximal runs.
  std::vector<CellRun> RunsOf(std::size_t axis) const;

 private:
  const Tree& tree_;
  const TreeCells& cells_;
  std::vector<Side> sides_;
};

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_FOREST_TREE_BOX_H_
