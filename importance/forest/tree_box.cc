// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/tree_box.h"

#include <algorithm>

namespace frostline::importance {
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
  cells.axes.reserve(axes.size());
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
  sides_.reserve(cells.axes.size());
  for (const AxisCells& axis : cells.axes) {
    const auto count = static_cast<std::uint32_t>(axis.size());
    Side side{{0, count}, axis.before.back()};
    if (!axis.is_ordered) {
      side.run.first = static_cast<std::uint32_t>(members_.size());
      side.run.second = side.run.first + count;
      members_.resize(side.run.second, true);
    }
    sides_.push_back(side);
  }
}

void TreeBox::CutChoices(const TreeNode& split, bool left, std::size_t axis) {
  const AxisCells& cells = cells_.axes[axis];
  Side& side = sides_[axis];
  side.mass = 0.0;
  for (std::uint32_t c = 0; c < cells.size(); ++c) {
    const std::uint32_t place = side.run.first + c;
    const bool was = members_[place];
    members_before_.push_back(was);
    if (!was) continue;
    members_[place] = split.goes_left[c] == left;
    if (members_[place]) side.mass += cells.MassOf(c, c + 1);
  }
}

void TreeBox::Enter(std::size_t node, bool left) {
  const TreeNode& split = tree_.nodes[node];
  const auto axis = static_cast<std::size_t>(split.axis);
  const AxisCells& cells = cells_.axes[axis];
  Side& side = sides_[axis];
  entered_.push_back({axis, side});
  if (!cells.is_ordered) {
    CutChoices(split, left, axis);
    return;
  }
  const std::uint32_t cut = cells_.cut_of_node[node];
  if (left) {
    side.run.second = std::min(side.run.second, cut);
  } else {
    side.run.first = std::max(side.run.first, cut);
  }
  side.run.second = std::max(side.run.first, side.run.second);
  side.mass = cells.MassOf(side.run.first, side.run.second);
}

void TreeBox::Leave() {
  const auto [axis, before] = entered_.back();
  entered_.pop_back();
  sides_[axis] = before;
  const AxisCells& cells = cells_.axes[axis];
  if (cells.is_ordered) return;
  const std::size_t begin = members_before_.size() - cells.size();
  std::copy(members_before_.begin() + static_cast<std::ptrdiff_t>(begin),
            members_before_.end(),
            members_.begin() + static_cast<std::ptrdiff_t>(before.run.first));
  members_before_.resize(begin);
}

void TreeBox::AppendRuns(std::size_t axis, std::vector<CellRun>& runs) const {
  const Side& side = sides_[axis];
  if (cells_.axes[axis].is_ordered) {
    runs.push_back(side.run);
    return;
  }
  bool is_open = false;
  for (std::uint32_t place = side.run.first; place < side.run.second; ++place) {
    const std::uint32_t c = place - side.run.first;
    if (members_[place] && is_open) {
      ++runs.back().second;
    } else if (members_[place]) {
      runs.push_back({c, c + 1});
    }
    is_open = members_[place];
  }
}

}  // namespace frostline::importance
