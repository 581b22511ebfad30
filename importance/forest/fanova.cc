// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/fanova.h"

#include <algorithm>
#include <numeric>

#include "importance/forest/marginal.h"
#include "importance/measure/parallel.h"

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
  // One leaf along one axis of the subset.
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

namespace {

// One tree and one set of known axes.
class SharedWalk {
 public:
  SharedWalk(const Tree& tree, const TreeCells& cells, double mean,
             const std::vector<bool>& is_known)
      : tree_(tree),
        is_known_(is_known),
        mean_(mean),
        box_(tree, cells),
        sums_(tree.nodes.size(), 0.0),
        squares_(tree.nodes.size(), 0.0),
        splits_known_(tree.nodes.size(), false),
        splits_other_(tree.nodes.size(), false) {
    Fill(0, 1.0, 1.0);
  }

  double Variance() { return Together(0, 1.0); }

 private:
  bool IsKnown(const TreeNode& node) const {
    return is_known_[static_cast<std::size_t>(node.axis)];
  }

  // `known` and `other` are the masses of the node's box along the known axes
  // and along all others.
  void Fill(std::size_t node, double known, double other) {
    const TreeNode& here = tree_.nodes[node];
    if (here.axis < 0) {
      const double value = here.value - mean_;
      sums_[node] = other * value;
      squares_[node] = known * (other * value) * (other * value);
      return;
    }
    const bool on_known = IsKnown(here);
    (on_known ? splits_known_ : splits_other_)[node] = true;
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      Fill(child, on_known ? known * share : known,
           on_known ? other : other * share);
      sums_[node] += sums_[child];
      squares_[node] += squares_[child];
      if (splits_known_[child]) splits_known_[node] = true;
      if (splits_other_[child]) splits_other_[node] = true;
    });
  }

  // Both points are in this node, whose box along the known axes is the shared
  // one and has this mass.
  double Together(std::size_t node, double mass) {
    if (!splits_known_[node]) return mass * sums_[node] * sums_[node];
    if (!splits_other_[node]) return squares_[node];
    const TreeNode& here = tree_.nodes[node];
    const auto left = static_cast<std::size_t>(here.left);
    const auto right = static_cast<std::size_t>(here.right);
    if (!IsKnown(here)) {
      return Together(left, mass) + Together(right, mass) +
             2.0 * Apart(left, right, mass);
    }
    double sum = 0.0;
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      sum += Together(child, mass * share);
    });
    return sum;
  }

  // They are in two nodes whose boxes meet in the shared one.
  double Apart(std::size_t a, std::size_t b, double mass) {
    if (!splits_known_[a]) {
      if (!splits_known_[b]) return mass * sums_[a] * sums_[b];
      return Apart(b, a, mass);  // the sides are symmetric
    }
    const TreeNode& here = tree_.nodes[a];
    if (!IsKnown(here)) {
      return Apart(static_cast<std::size_t>(here.left), b, mass) +
             Apart(static_cast<std::size_t>(here.right), b, mass);
    }
    double sum = 0.0;
    box_.EnterChildren(a, [&](std::size_t child, double share) {
      sum += Apart(child, b, mass * share);
    });
    return sum;
  }

  const Tree& tree_;
  const std::vector<bool>& is_known_;
  double mean_;
  TreeBox box_;
  std::vector<double> sums_;     // of a subtree: values by their other mass
  std::vector<double> squares_;  // of a subtree where only known axes split
  std::vector<bool> splits_known_;
  std::vector<bool> splits_other_;
};

double SubsetMeanOf(const Tree& tree, const TreeCells& cells, std::size_t node,
                    TreeBox& box) {
  const TreeNode& here = tree.nodes[node];
  if (here.axis < 0) return here.value;
  const auto axis = static_cast<std::size_t>(here.axis);
  const double whole = box.mass(axis);
  double mean = 0.0;
  for (const bool left : {true, false}) {
    box.Enter(node, left);
    const double part = box.mass(axis);
    if (part > 0.0) {
      const int child = left ? here.left : here.right;
      mean += part / whole *
              SubsetMeanOf(tree, cells, static_cast<std::size_t>(child), box);
    }
    box.Leave();
  }
  return mean;
}

}  // namespace

SubsetShare SubsetVarianceOf(const Tree& tree,
                             const std::vector<MeasuredAxis>& axes,
                             const std::vector<std::size_t>& subset) {
  SubsetShare variance;
  if (subset.empty()) return variance;
  const TreeCells cells = MakeCells(tree, axes);
  TreeBox box(tree, cells);
  const double mean = SubsetMeanOf(tree, cells, 0, box);
  std::vector<bool> is_known(axes.size(), false);
  for (const std::size_t axis : subset) is_known[axis] = true;
  variance.together = SharedWalk(tree, cells, mean, is_known).Variance();
  variance.beyond = subset.size() == 1 ? variance.together
                                       : JointVarianceOf(tree, cells, subset);
  return variance;
}

namespace {

// Rounding may carry a share a little out of its range.
double Clip(double share) { return std::clamp(share, 0.0, 1.0); }

// Below this a tree is flat but for rounding: targets are scaled to [-1, 1].
constexpr double kFlat = 1e-28;

void DivideAll(std::vector<double>& values, double by) {
  for (double& value : values) value /= by;
}

std::vector<double> MainSharesOf(const TreeMarginals& marginals,
                                 std::size_t axes) {
  std::vector<double> main(axes);
  for (std::size_t i = 0; i < axes; ++i) {
    main[i] = marginals.MainVariance(i) / marginals.variance();
  }
  return main;
}

// Over the trees that have shares, always in the same order; 0 without any.
std::vector<double> FanovaMeanOf(const std::vector<Shares>& trees,
                                 std::vector<double> Shares::* field,
                                 std::size_t size) {
  std::vector<double> sums(size, 0.0);
  double counted = 0.0;
  for (const Shares& tree : trees) {
    if (tree.main.empty()) continue;
    counted += 1.0;
    for (std::size_t i = 0; i < size; ++i) sums[i] += (tree.*field)[i];
  }
  for (double& sum : sums) sum = counted > 0.0 ? Clip(sum / counted) : 0.0;
  return sums;
}

}  // namespace

Shares ForestShares(const std::vector<Tree>& trees,
                    const std::vector<MeasuredAxis>& axes,
                    const std::vector<std::size_t>& pair_axes, int threads,
                    const std::stop_token& stop) {
  std::vector<Shares> of_tree(trees.size());  // empty: has no variance
  ParallelFor(
      threads, trees.size(),
      [&](std::size_t t) {
        const TreeMarginals marginals(trees[t], axes);
        if (!(marginals.variance() > kFlat)) return;
        of_tree[t].main = MainSharesOf(marginals, axes.size());
        of_tree[t].total = marginals.TotalVariances();
        if (!pair_axes.empty()) {
          of_tree[t].pairs = marginals.PairVariances(pair_axes);
        }
        DivideAll(of_tree[t].total, marginals.variance());
        DivideAll(of_tree[t].pairs, marginals.variance());
      },
      stop);
  Shares shares;
  const std::size_t paired = pair_axes.size();
  shares.main = FanovaMeanOf(of_tree, &Shares::main, axes.size());
  shares.total = FanovaMeanOf(of_tree, &Shares::total, axes.size());
  shares.pairs = FanovaMeanOf(of_tree, &Shares::pairs,
                              paired == 0 ? 0 : paired * (paired - 1) / 2);
  const double explained =
      std::accumulate(shares.main.begin(), shares.main.end(), 0.0) +
      std::accumulate(shares.pairs.begin(), shares.pairs.end(), 0.0);
  shares.unexplained = Clip(1.0 - explained);
  return shares;
}

std::vector<double> ForestMainShares(const std::vector<Tree>& trees,
                                     const std::vector<MeasuredAxis>& axes,
                                     int threads, const std::stop_token& stop) {
  std::vector<Shares> of_tree(trees.size());
  ParallelFor(
      threads, trees.size(),
      [&](std::size_t t) {
        const TreeMarginals marginals(trees[t], axes);
        if (!(marginals.variance() > kFlat)) return;
        of_tree[t].main = MainSharesOf(marginals, axes.size());
      },
      stop);
  return FanovaMeanOf(of_tree, &Shares::main, axes.size());
}

std::vector<SubsetShare> ForestSubsetShares(
    const std::vector<Tree>& trees, const std::vector<MeasuredAxis>& axes,
    const NamedSubsets& subsets, int threads, const std::stop_token& stop) {
  if (subsets.empty()) return {};
  std::vector<std::vector<std::size_t>> sorted;  // in any order the same bits
  sorted.reserve(subsets.size());
  for (const std::vector<int>& subset : subsets) {
    sorted.emplace_back(subset.begin(), subset.end());
    std::sort(sorted.back().begin(), sorted.back().end());
  }
  std::vector<Shares> of_tree(trees.size());
  ParallelFor(
      threads, trees.size(),
      [&](std::size_t t) {
        const double variance = TreeMarginals(trees[t], axes).variance();
        if (!(variance > kFlat)) return;
        for (const std::vector<std::size_t>& subset : sorted) {
          const SubsetShare found = SubsetVarianceOf(trees[t], axes, subset);
          of_tree[t].main.push_back(found.together / variance);
          of_tree[t].main.push_back(found.beyond / variance);
        }
      },
      stop);
  const std::vector<double> mean =
      FanovaMeanOf(of_tree, &Shares::main, 2 * subsets.size());
  std::vector<SubsetShare> shares;
  shares.reserve(subsets.size());
  for (std::size_t s = 0; s < subsets.size(); ++s) {
    shares.push_back({mean[2 * s], mean[2 * s + 1]});
  }
  return shares;
}

std::vector<std::vector<double>> ForestCurves(
    const std::vector<Tree>& trees, const std::vector<MeasuredAxis>& axes,
    int threads, const std::stop_token& stop) {
  std::vector<std::vector<double>> probes, curves;
  for (const MeasuredAxis& axis : axes) {
    probes.push_back(axis.is_ordered() ? axis.Probes() : std::vector<double>());
    curves.emplace_back(probes.back().size(), 0.0);
  }
  std::vector<std::vector<std::vector<double>>> of_tree(trees.size());
  ParallelFor(
      threads, trees.size(),
      [&](std::size_t t) {
        const TreeMarginals marginals(trees[t], axes);
        for (std::size_t a = 0; a < axes.size(); ++a) {
          of_tree[t].push_back(marginals.CurveAt(a, probes[a]));
        }
      },
      stop);
  for (const auto& tree : of_tree) {
    if (tree.empty()) continue;  // after a stop
    for (std::size_t a = 0; a < axes.size(); ++a) {
      for (std::size_t i = 0; i < curves[a].size(); ++i) {
        curves[a][i] += tree[a][i] / static_cast<double>(trees.size());
      }
    }
  }
  return curves;
}

}  // namespace frostline::importance
