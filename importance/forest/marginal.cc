// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/marginal.h"

#include <algorithm>
#include <numeric>

#include "importance/forest/total_effect.h"

namespace frostline {
namespace {

// Turns differences, kept at the ends of runs, into values by cell.
void SumUp(std::vector<double>& differences) {
  std::partial_sum(differences.begin(), differences.end(), differences.begin());
  differences.pop_back();
}

// Values over cells, first x second, without what each axis explains alone.
double InteractionVariance(std::vector<double>& values, const AxisCells& first,
                           const AxisCells& second) {
  std::vector<double> row_mean(first.size(), 0.0);
  std::vector<double> column_mean(second.size(), 0.0);
  double mean = 0.0;
  for (std::size_t a = 0; a < first.size(); ++a) {
    for (std::size_t b = 0; b < second.size(); ++b) {
      const double value = values[a * (second.size() + 1) + b];
      row_mean[a] += second.MassOf(b, b + 1) * value;
      column_mean[b] += first.MassOf(a, a + 1) * value;
    }
    mean += first.MassOf(a, a + 1) * row_mean[a];
  }
  double variance = 0.0;
  for (std::size_t a = 0; a < first.size(); ++a) {
    for (std::size_t b = 0; b < second.size(); ++b) {
      const double pure = values[a * (second.size() + 1) + b] - row_mean[a] -
                          column_mean[b] + mean;
      variance +=
          first.MassOf(a, a + 1) * second.MassOf(b, b + 1) * pure * pure;
    }
  }
  return variance;
}

}  // namespace

TreeMarginals::TreeMarginals(const Tree& tree,
                             const std::vector<MeasuredAxis>& axes)
    : tree_(tree),
      cells_(MakeCells(tree, axes)),
      is_split_(axes.size(), false),
      mass_of_node_(tree.nodes.size(), 0.0) {
  TreeBox box(tree_, cells_);
  std::vector<int> splits(axes.size(), 0);
  AddLeaves(0, box, splits);
  for (const Leaf& leaf : leaves_) mean_ += leaf.mass * leaf.value;
  for (Leaf& leaf : leaves_) {
    leaf.value -= mean_;
    variance_ += leaf.mass * leaf.value * leaf.value;
  }
}

void TreeMarginals::AddLeaves(std::size_t node, TreeBox& box,
                              std::vector<int>& splits) {
  const TreeNode& here = tree_.nodes[node];
  if (here.axis >= 0) {
    const auto axis = static_cast<std::size_t>(here.axis);
    ++splits[axis];
    is_split_[axis] = true;
    for (const bool left : {true, false}) {
      TreeBox::Side side = box.Enter(node, left);
      // What has no mass counts for nothing.
      if (box.mass(axis) > 0.0) {
        AddLeaves(static_cast<std::size_t>(left ? here.left : here.right), box,
                  splits);
      }
      box.Restore(node, std::move(side));
    }
    --splits[axis];
    return;
  }
  Leaf leaf;
  leaf.value = here.value;
  leaf.mass = 1.0;
  for (std::size_t axis = 0; axis < splits.size(); ++axis) {
    if (splits[axis] == 0) continue;
    leaf.sides.push_back({axis, box.mass(axis), box.RunsOf(axis)});
    leaf.mass *= box.mass(axis);
  }
  mass_of_node_[node] = leaf.mass;
  leaves_.push_back(std::move(leaf));
}

std::vector<double> TreeMarginals::MainEffect(std::size_t axis) const {
  std::vector<double> effect(cells_.axes[axis].size() + 1, 0.0);
  for (const Leaf& leaf : leaves_) {
    const auto side = std::find_if(
        leaf.sides.begin(), leaf.sides.end(),
        [axis](const LeafSide& candidate) { return candidate.axis == axis; });
    if (side == leaf.sides.end()) {
      effect[0] += leaf.value * leaf.mass;
      continue;
    }
    const double rest = leaf.value * (leaf.mass / side->mass);
    for (const CellRun& run : side->runs) {
      effect[run.first] += rest;
      effect[run.second] -= rest;
    }
  }
  SumUp(effect);
  return effect;
}

double TreeMarginals::MainVariance(std::size_t axis) const {
  if (!is_split_[axis]) return 0.0;  // and not the rounding of 0
  const AxisCells& cells = cells_.axes[axis];
  const std::vector<double> effect = MainEffect(axis);
  double variance = 0.0;
  for (std::size_t c = 0; c < effect.size(); ++c) {
    variance += cells.MassOf(c, c + 1) * effect[c] * effect[c];
  }
  return variance;
}

std::vector<double> TreeMarginals::CurveAt(
    std::size_t axis, const std::vector<double>& places) const {
  const std::vector<double>& before = cells_.axes[axis].before;
  const std::vector<double> effect = MainEffect(axis);
  std::vector<double> curve;
  for (const double place : places) {
    const auto found = std::upper_bound(before.begin(), before.end(), place);
    const auto cell = std::clamp<std::ptrdiff_t>(
        found - before.begin() - 1, 0,
        static_cast<std::ptrdiff_t>(effect.size()) - 1);
    curve.push_back(effect[static_cast<std::size_t>(cell)]);
  }
  return curve;
}

double TreeMarginals::PairVariance(const std::vector<const Leaf*>& leaves,
                                   std::size_t first,
                                   std::size_t second) const {
  const AxisCells& rows = cells_.axes[first];
  const AxisCells& columns = cells_.axes[second];
  const std::size_t stride = columns.size() + 1;
  std::vector<double> values((rows.size() + 1) * stride, 0.0);
  for (const Leaf* const leaf : leaves) {
    const auto is = [](std::size_t axis) {
      return [axis](const LeafSide& side) { return side.axis == axis; };
    };
    const auto a =
        std::find_if(leaf->sides.begin(), leaf->sides.end(), is(first));
    const auto b = std::find_if(a, leaf->sides.end(), is(second));
    const double rest = leaf->value * (leaf->mass / a->mass / b->mass);
    for (const CellRun& p : a->runs) {
      for (const CellRun& q : b->runs) {
        values[p.first * stride + q.first] += rest;
        values[p.first * stride + q.second] -= rest;
        values[p.second * stride + q.first] -= rest;
        values[p.second * stride + q.second] += rest;
      }
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % stride != 0) values[i] += values[i - 1];
  }
  for (std::size_t i = stride; i < values.size(); ++i) {
    values[i] += values[i - stride];
  }
  return InteractionVariance(values, rows, columns);
}

std::vector<double> TreeMarginals::PairVariances(
    const std::vector<std::size_t>& axes) const {
  const std::size_t none = axes.size();
  std::vector<std::size_t> position(cells_.axes.size(), none);
  for (std::size_t i = 0; i < axes.size(); ++i) position[axes[i]] = i;
  // Only a leaf with splits on both axes holds any of a pair's interaction.
  std::vector<std::vector<const Leaf*>> leaves_of_pair(none * none);
  for (const Leaf& leaf : leaves_) {
    for (std::size_t a = 0; a < leaf.sides.size(); ++a) {
      for (std::size_t b = a + 1; b < leaf.sides.size(); ++b) {
        const std::size_t i = position[leaf.sides[a].axis];
        const std::size_t j = position[leaf.sides[b].axis];
        if (i == none || j == none) continue;
        leaves_of_pair[i * none + j].push_back(&leaf);
      }
    }
  }
  std::vector<double> variances;
  for (std::size_t i = 0; i < none; ++i) {
    for (std::size_t j = i + 1; j < none; ++j) {
      const auto& leaves = leaves_of_pair[i * none + j];
      variances.push_back(
          leaves.empty() ? 0.0 : PairVariance(leaves, axes[i], axes[j]));
    }
  }
  return variances;
}

double TreeMarginals::TotalVariance(std::size_t axis) const {
  if (!is_split_[axis]) return 0.0;
  return variance_ -
         MomentWithoutAxis(tree_, cells_, mass_of_node_, mean_, axis);
}

}  // namespace frostline
