// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/joint_effect.h"

#include <algorithm>

namespace frostline::importance {
namespace {

class JointWalk {
 public:
  JointWalk(const Tree& tree, const TreeCells& cells,
            const std::vector<std::size_t>& subset)
      : tree_(tree),
        cells_(cells),
        subset_(subset),
        box_(tree, cells),
        splits_subset_(SplitsOn(tree, subset)) {
    Collect(0, 1.0);
  }

  double Variance() const {
    double sum = 0.0;
    for (std::size_t a = 0; a < weights_.size(); ++a) {
      double with_others = 0.5 * Product(a, a);
      for (std::size_t b = 0; b < a; ++b) with_others += Product(a, b);
      sum += 2.0 * with_others;
    }
    return sum;
  }

 private:
  // Of one leaf along one axis of the subset.
  struct Side {
    double per_mass = 0.0;  // 1 / mass
    std::size_t begin = 0;  // of its runs
    std::size_t end = 0;
  };

  // The integral of the tree over a node's box, whose mass this is.
  double Integral(std::size_t node, double mass) {
    if (tree_.nodes[node].axis < 0) return mass * tree_.nodes[node].value;
    double sum = 0.0;
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      sum += Integral(child, mass * share);
    });
    return sum;
  }

  // What the subset does not split any further is one leaf.
  void Collect(std::size_t node, double mass) {
    if (splits_subset_[node]) {
      box_.EnterChildren(node, [&](std::size_t child, double share) {
        Collect(child, mass * share);
      });
      return;
    }
    for (const std::size_t axis : subset_) {
      if (box_.mass(axis) >= cells_.axes[axis].before.back()) return;
    }
    weights_.push_back(Integral(node, mass));
    for (const std::size_t axis : subset_) {
      Side side;
      side.per_mass = 1.0 / box_.mass(axis);
      side.begin = runs_.size();
      box_.AppendRuns(axis, runs_);
      side.end = runs_.size();
      sides_.push_back(side);
    }
  }

  double Product(std::size_t a, std::size_t b) const {
    const std::size_t width = subset_.size();
    double product = weights_[a] * weights_[b];
    for (std::size_t s = 0; s < width; ++s) {
      const Side& one = sides_[a * width + s];
      const Side& other = sides_[b * width + s];
      const double common = CommonMass(cells_.axes[subset_[s]], one, other);
      product *= common * one.per_mass * other.per_mass - 1.0;
    }
    return product;
  }

  double CommonMass(const AxisCells& axis, const Side& a, const Side& b) const {
    double common = 0.0;
    std::size_t i = a.begin;
    std::size_t j = b.begin;
    while (i < a.end && j < b.end) {
      const auto begin = std::max(runs_[i].first, runs_[j].first);
      const auto end = std::min(runs_[i].second, runs_[j].second);
      if (begin < end) common += axis.MassOf(begin, end);
      runs_[i].second < runs_[j].second ? ++i : ++j;
    }
    return common;
  }

  const Tree& tree_;
  const TreeCells& cells_;
  const std::vector<std::size_t>& subset_;
  TreeBox box_;
  std::vector<bool> splits_subset_;
  std::vector<double> weights_;  // by leaf: value times mass
  std::vector<Side> sides_;      // by leaf, then by axis of the subset
  std::vector<CellRun> runs_;
};

}  // namespace

double JointVarianceOf(const Tree& tree, const TreeCells& cells,
                       const std::vector<std::size_t>& subset) {
  return JointWalk(tree, cells, subset).Variance();
}

}  // namespace frostline::importance
