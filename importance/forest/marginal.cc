// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/marginal.h"

#include <algorithm>
#include <numeric>

#include "importance/forest/total_effect.h"

namespace frostline::importance {

TreeMarginals::TreeMarginals(const Tree& tree,
                             const std::vector<MeasuredAxis>& axes)
    : tree_(tree), cells_(MakeCells(tree, axes)), is_split_(axes.size()) {
  leaves_.reserve(tree.nodes.size() / 2 + 1);
  TreeBox box(tree_, cells_);
  std::vector<std::size_t> splits(axes.size(), 0), split_axes;
  AddLeaves(0, box, splits, split_axes);
  for (const Leaf& leaf : leaves_) mean_ += leaf.mass * leaf.value;
  for (Leaf& leaf : leaves_) {
    leaf.value -= mean_;
    variance_ += leaf.mass * leaf.value * leaf.value;
  }
  FindMainEffects();
}

void TreeMarginals::AddLeaves(std::size_t node, TreeBox& box,
                              std::vector<std::size_t>& splits,
                              std::vector<std::size_t>& split_axes) {
  const TreeNode& here = tree_.nodes[node];
  if (here.axis < 0) {
    AddLeaf(here.value, box, split_axes);
    return;
  }
  const auto axis = static_cast<std::size_t>(here.axis);
  is_split_[axis] = true;
  const auto place =
      std::lower_bound(split_axes.begin(), split_axes.end(), axis);
  const std::ptrdiff_t at = place - split_axes.begin();
  if (++splits[axis] == 1) split_axes.insert(place, axis);
  for (const bool left : {true, false}) {
    box.Enter(node, left);
    // What has no mass counts for nothing.
    if (box.mass(axis) > 0.0) {
      AddLeaves(static_cast<std::size_t>(left ? here.left : here.right), box,
                splits, split_axes);
    }
    box.Leave();
  }
  if (--splits[axis] == 0) split_axes.erase(split_axes.begin() + at);
}

void TreeMarginals::AddLeaf(double value, const TreeBox& box,
                            const std::vector<std::size_t>& split_axes) {
  Leaf leaf{value, 1.0, sides_.size(), 0};
  for (const std::size_t axis : split_axes) {
    LeafSide side{axis, box.mass(axis), runs_.size(), 0};
    box.AppendRuns(axis, runs_);
    side.end_run = runs_.size();
    sides_.push_back(side);
    leaf.mass *= side.mass;
  }
  leaf.end_side = sides_.size();
  leaves_.push_back(leaf);
}

void TreeMarginals::FindMainEffects() {
  std::size_t count = 0;
  for (const AxisCells& axis : cells_.axes) {
    first_of_.push_back(count);
    count += axis.size() + 1;
  }
  // Differences at the ends of runs at first, summed up below. What a leaf that
  // an axis does not split adds to all of its cells, the others together take
  // away: the mean is 0.
  effects_.assign(count, 0.0);
  for (const Leaf& leaf : leaves_) {
    const double share = leaf.value * leaf.mass;
    for (std::size_t s = leaf.first_side; s < leaf.end_side; ++s) {
      double* const effect = effects_.data() + first_of_[sides_[s].axis];
      effect[0] -= share;
      const double rest = share / sides_[s].mass;
      for (std::size_t r = sides_[s].first_run; r < sides_[s].end_run; ++r) {
        effect[runs_[r].first] += rest;
        effect[runs_[r].second] -= rest;
      }
    }
  }
  for (std::size_t a = 0; a < first_of_.size(); ++a) {
    double* const effect = effects_.data() + first_of_[a];
    std::partial_sum(effect, effect + cells_.axes[a].size(), effect);
  }
}

double TreeMarginals::MainVariance(std::size_t axis) const {
  if (!is_split_[axis]) return 0.0;  // and not the rounding of 0
  const AxisCells& cells = cells_.axes[axis];
  double variance = 0.0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const double effect = effects_[first_of_[axis] + c];
    variance += cells.MassOf(c, c + 1) * effect * effect;
  }
  return variance;
}

std::vector<double> TreeMarginals::CurveAt(
    std::size_t axis, const std::vector<double>& places) const {
  const std::vector<double>& before = cells_.axes[axis].before;
  std::vector<double> curve;
  for (const double place : places) {
    const auto found = std::upper_bound(before.begin(), before.end(), place);
    const auto cell = std::clamp<std::ptrdiff_t>(
        found - before.begin() - 1, 0,
        static_cast<std::ptrdiff_t>(cells_.axes[axis].size()) - 1);
    curve.push_back(effects_[first_of_[axis] + static_cast<std::size_t>(cell)]);
  }
  return curve;
}

std::vector<double> TreeMarginals::TotalVariances() const {
  return TotalVariancesOf(tree_, cells_, mean_);
}

}  // namespace frostline::importance
