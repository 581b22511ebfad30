// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/tree_box.h"

#include <algorithm>

namespace frostline {
namespace {

AxisCells MakeChoiceCells(const MeasuredAxis& axis) {
  AxisCells cells;
  cells.is_ordered = false;
  cells.before = {0.0};
  for (const double mass : axis.choice_masses()) {
    cells.before.push_back(cells.before.back() + mass);
  }
  return cells;
}

}  // namespace

TreeCells MakeCells(const Tree& tree, const std::vector<MeasuredAxis>& axes) {
  TreeCells cells;
  for (const MeasuredAxis& axis : axes) {
    cells.axes.push_back(axis.is_ordered() ? AxisCells()
                                           : MakeChoiceCells(axis));
  }
  std::vector<double> places(tree.nodes.size(), 0.0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].axis < 0) continue;
    const auto axis = static_cast<std::size_t>(tree.nodes[i].axis);
    if (!axes[axis].is_ordered()) continue;
    places[i] = axes[axis].MassUpTo(tree.nodes[i].threshold);
    cells.axes[axis].before.push_back(places[i]);
  }
  for (AxisCells& axis : cells.axes) {
    if (!axis.is_ordered) continue;
    std::sort(axis.before.begin(), axis.before.end());
    axis.before.erase(std::unique(axis.before.begin(), axis.before.end()),
                      axis.before.end());
  }
  cells.cut_of_node.resize(tree.nodes.size(), 0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].axis < 0) continue;
    const AxisCells& axis =
        cells.axes[static_cast<std::size_t>(tree.nodes[i].axis)];
    if (!axis.is_ordered) continue;
    const auto found =
        std::lower_bound(axis.before.begin(), axis.before.end(), places[i]);
    cells.cut_of_node[i] =
        static_cast<std::uint32_t>(found - axis.before.begin());
  }
  return cells;
}

TreeBox::TreeBox(const Tree& tree, const TreeCells& cells)
    : tree_(tree), cells_(cells) {
  for (const AxisCells& axis : cells.axes) {
    Side side;
    side.run = {0, static_cast<std::uint32_t>(axis.size())};
    if (!axis.is_ordered) side.members.resize(axis.size(), true);
    side.mass = axis.before.back();
    sides_.push_back(side);
  }
}

TreeBox::Side TreeBox::Enter(std::size_t node, bool left) {
  const TreeNode& split = tree_.nodes[node];
  const auto axis = static_cast<std::size_t>(split.axis);
  const AxisCells& cells = cells_.axes[axis];
  Side& side = sides_[axis];
  Side before = side;
  if (cells.is_ordered) {
    const std::uint32_t cut = cells_.cut_of_node[node];
    if (left) {
      side.run.second = std::min(side.run.second, cut);
    } else {
      side.run.first = std::max(side.run.first, cut);
    }
    side.run.second = std::max(side.run.first, side.run.second);
    side.mass = cells.MassOf(side.run.first, side.run.second);
    return before;
  }
  side.mass = 0.0;
  for (std::size_t c = 0; c < side.members.size(); ++c) {
    side.members[c] = side.members[c] && split.goes_left[c] == left;
    if (side.members[c]) side.mass += cells.MassOf(c, c + 1);
  }
  return before;
}

void TreeBox::Restore(std::size_t node, Side side) {
  sides_[static_cast<std::size_t>(tree_.nodes[node].axis)] = std::move(side);
}

std::vector<CellRun> TreeBox::RunsOf(std::size_t axis) const {
  const Side& side = sides_[axis];
  if (side.members.empty()) return {side.run};
  std::vector<CellRun> runs;
  for (std::uint32_t c = 0; c < side.members.size(); ++c) {
    if (!side.members[c]) continue;
    if (!runs.empty() && runs.back().second == c) {
      ++runs.back().second;
    } else {
      runs.push_back({c, c + 1});
    }
  }
  return runs;
}

}  // namespace frostline
