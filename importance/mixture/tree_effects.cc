// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/tree_effects.h"

#include <algorithm>

namespace frostline {
namespace {

using Run = std::pair<std::size_t, std::size_t>;  // [begin, end)

// Where a leaf lies along an axis that was split on the way to it.
struct Side {
  std::size_t axis = 0;
  double mass = 1.0;
  std::vector<Run> runs;
};

// Walks the leaves of trees and adds each to sums that are turned into effects
// at the end. A leaf adds the same to all cells of a rectangle, so only the
// corners are written, and summed up once (a difference array).
class LeafSums {
 public:
  LeafSums(const std::vector<FineAxis>& axes, bool pairs)
      : axes_(axes), pairs_(pairs), tables_(axes.size() * axes.size()) {
    for (const FineAxis& axis : axes_) {
      inside_.emplace_back(axis.size(), true);
      effects_.main.emplace_back(axis.size() + 1, 0.0);
    }
  }

  void Add(const Tree& tree, double weight) {
    weight_ = weight;
    Visit(tree, 0);
  }

  TreeEffects Finish();

 private:
  void Visit(const Tree& tree, std::size_t at);
  void AddLeaf(double value);
  void AddPair(const Side& a, const Side& b, double value);
  Side SideOf(std::size_t axis) const;
  std::vector<double> PairEffect(const std::vector<double>& sums,
                                 const FineAxis& first,
                                 const FineAxis& second) const;
  void Centre(std::vector<double>& main, const FineAxis& axis) const;

  const std::vector<FineAxis>& axes_;
  bool pairs_;
  double weight_ = 1.0;
  std::vector<std::vector<bool>> inside_;    // the box, by axis and code
  std::vector<std::size_t> split_;           // axes, each once
  std::vector<std::vector<double>> tables_;  // by first axis, then second
  TreeEffects effects_;
};

void LeafSums::Visit(const Tree& tree, std::size_t at) {
  const TreeNode& node = tree.nodes[at];
  if (node.axis < 0) return AddLeaf(weight_ * node.value);
  const auto axis = static_cast<std::size_t>(node.axis);
  const std::vector<bool> before = inside_[axis];
  const bool is_new =
      std::find(split_.begin(), split_.end(), axis) == split_.end();
  if (is_new) split_.push_back(axis);
  for (const bool left : {true, false}) {
    bool any = false;
    for (std::size_t k = 0; k < before.size(); ++k) {
      inside_[axis][k] = before[k] && axes_[axis].GoesLeft(node, k) == left;
      any = any || inside_[axis][k];
    }
    if (any) {
      Visit(tree, static_cast<std::size_t>(left ? node.left : node.right));
    }
  }
  inside_[axis] = before;
  if (is_new) split_.pop_back();
}

Side LeafSums::SideOf(std::size_t axis) const {
  Side side{axis, 0.0, {}};
  const std::vector<bool>& inside = inside_[axis];
  for (std::size_t k = 0; k < inside.size(); ++k) {
    if (!inside[k]) continue;
    side.mass += axes_[axis].masses[k];
    if (k == 0 || !inside[k - 1]) side.runs.emplace_back(k, k);
    side.runs.back().second = k + 1;
  }
  return side;
}

void LeafSums::AddLeaf(double value) {
  std::vector<Side> sides;
  double mass = 1.0;
  for (const std::size_t axis : split_) {
    sides.push_back(SideOf(axis));
    mass *= sides.back().mass;
  }
  effects_.mean += value * mass;
  for (std::size_t a = 0; a < sides.size(); ++a) {
    for (const Run& run : sides[a].runs) {
      const double part = value * mass / sides[a].mass;
      effects_.main[sides[a].axis][run.first] += part;
      effects_.main[sides[a].axis][run.second] -= part;
    }
    for (std::size_t b = 0; pairs_ && b < a; ++b) {
      const double part = value * mass / sides[a].mass / sides[b].mass;
      if (sides[a].axis < sides[b].axis) {
        AddPair(sides[a], sides[b], part);
      } else {
        AddPair(sides[b], sides[a], part);
      }
    }
  }
}

void LeafSums::AddPair(const Side& a, const Side& b, double value) {
  const std::size_t width = axes_[b.axis].size() + 1;
  std::vector<double>& table = tables_[a.axis * axes_.size() + b.axis];
  if (table.empty()) table.assign((axes_[a.axis].size() + 1) * width, 0.0);
  for (const Run& x : a.runs) {
    for (const Run& y : b.runs) {
      table[x.first * width + y.first] += value;
      table[x.first * width + y.second] -= value;
      table[x.second * width + y.first] -= value;
      table[x.second * width + y.second] += value;
    }
  }
}

void LeafSums::Centre(std::vector<double>& main, const FineAxis& axis) const {
  double mean = 0.0;
  for (std::size_t k = 0; k < axis.size(); ++k) {
    mean += axis.masses[k] * main[k];
  }
  for (double& value : main) value -= mean;
}

std::vector<double> LeafSums::PairEffect(const std::vector<double>& sums,
                                         const FineAxis& first,
                                         const FineAxis& second) const {
  const std::size_t width = second.size();
  std::vector<double> table;
  std::vector<double> running(width, 0.0);
  std::vector<double> mean(width, 0.0);
  for (std::size_t x = 0; x < first.size(); ++x) {
    std::vector<double> row(width);
    double sum = 0.0;
    for (std::size_t y = 0; y < width; ++y) {
      running[y] += sums[x * (width + 1) + y];
      sum += running[y];
      row[y] = sum;
    }
    Centre(row, second);
    for (std::size_t y = 0; y < width; ++y) mean[y] += first.masses[x] * row[y];
    table.insert(table.end(), row.begin(), row.end());
  }
  for (std::size_t k = 0; k < table.size(); ++k) table[k] -= mean[k % width];
  return table;
}

TreeEffects LeafSums::Finish() {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    std::vector<double>& main = effects_.main[i];
    for (std::size_t k = 1; k < main.size(); ++k) main[k] += main[k - 1];
    main.pop_back();
    Centre(main, axes_[i]);
  }
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (tables_[i].empty()) continue;
    const AxisPair pair(i / axes_.size(), i % axes_.size());
    effects_.pairs[pair] =
        PairEffect(tables_[i], axes_[pair.first], axes_[pair.second]);
  }
  return std::move(effects_);
}

}  // namespace

TreeEffects FindTreeEffects(const std::vector<FineAxis>& axes,
                            std::span<const Tree> trees, bool pairs) {
  LeafSums sums(axes, pairs);
  for (const Tree& tree : trees) {
    sums.Add(tree, 1.0 / static_cast<double>(trees.size()));
  }
  return sums.Finish();
}

double PredictAt(const std::vector<FineAxis>& axes, std::span<const Tree> trees,
                 const FinePoint& point) {
  double sum = 0.0;
  for (const Tree& tree : trees) {
    std::size_t at = 0;
    while (tree.nodes[at].axis >= 0) {
      const TreeNode& node = tree.nodes[at];
      const auto axis = static_cast<std::size_t>(node.axis);
      at = static_cast<std::size_t>(
          axes[axis].GoesLeft(node, point[axis]) ? node.left : node.right);
    }
    sum += tree.nodes[at].value;
  }
  return sum / static_cast<double>(trees.size());
}

}  // namespace frostline
