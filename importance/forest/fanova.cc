// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/fanova.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "importance/forest/forest.h"
#include "importance/forest/marginal.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/numbers.h"
#include "importance/report.h"

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

SubsetVariance SubsetVarianceOf(const Tree& tree,
                                const std::vector<MeasuredAxis>& axes,
                                const std::vector<std::size_t>& subset) {
  SubsetVariance variance;
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

std::vector<SubsetVariance> ForestSubsetShares(
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
          const SubsetVariance found = SubsetVarianceOf(trees[t], axes, subset);
          of_tree[t].main.push_back(found.together / variance);
          of_tree[t].main.push_back(found.beyond / variance);
        }
      },
      stop);
  const std::vector<double> mean =
      FanovaMeanOf(of_tree, &Shares::main, 2 * subsets.size());
  std::vector<SubsetVariance> shares;
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

namespace {

// Streams of one seed, far apart; the forest itself has those from 0.
constexpr std::uint64_t kBagStream = std::uint64_t{1} << 32;
constexpr std::uint64_t kShuffleStream = std::uint64_t{2} << 32;
// The random streams of one bag or shuffle: its own draw, then its trees.
constexpr std::uint64_t kStreamsEach = 1 + kTreesPerBag;

template <typename T>
std::vector<T> Reordered(const std::vector<T>& values,
                         const std::vector<std::size_t>& order) {
  std::vector<T> moved;
  moved.reserve(values.size());
  for (const std::size_t i : order) moved.push_back(values[i]);
  return moved;
}

// Returns the data with a copy of every axis, whose rows are shuffled: a copy
// has the values of its axis but tells nothing.
Dataset WithShadows(const Dataset& data, Rng& rng) {
  std::vector<std::size_t> order(data.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Shuffle(order, rng);
  Dataset doubled = data;
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    doubled.axes.push_back(data.axes[i]);
    doubled.codes.push_back(Reordered(data.codes[i], order));
    doubled.bins.push_back(data.bins[i]);
    doubled.bins.back().bin_of_row = Reordered(data.bins[i].bin_of_row, order);
  }
  return doubled;
}

}  // namespace

std::vector<Shares> Replicate(const Dataset& data, int count,
                              std::uint64_t seed,
                              const std::vector<std::size_t>& pair_axes,
                              int threads, const NamedSubsets& subsets,
                              const std::stop_token& stop) {
  const RowWeights all(data.rows(), 1);
  std::vector<Shares> replicates(static_cast<std::size_t>(count));
  ParallelFor(
      threads, replicates.size(),
      [&](std::size_t b) {
        const std::uint64_t stream = kBagStream + b * kStreamsEach;
        Rng rng(seed, stream);
        const Forest forest =
            FitForest(data, data.targets, DrawRows(all, rng), kTreesPerBag,
                      seed, stream + 1, 1, stop);
        replicates[b] =
            ForestShares(forest.trees, data.axes, pair_axes, 1, stop);
        replicates[b].subsets =
            ForestSubsetShares(forest.trees, data.axes, subsets, 1, stop);
      },
      stop);
  return replicates;
}

std::vector<double> ChanceMainShares(const Dataset& data, std::uint64_t seed,
                                     int threads, const std::stop_token& stop) {
  const RowWeights all(data.rows(), 1);
  const std::size_t axes = data.axes.size();
  std::vector<std::vector<double>> shares(kShuffles);
  ParallelFor(
      threads, shares.size(),
      [&](std::size_t s) {
        const std::uint64_t stream = kShuffleStream + s * kStreamsEach;
        Rng rng(seed, stream);
        const Dataset doubled = WithShadows(data, rng);
        const Forest forest =
            FitForest(doubled, doubled.targets, all, kTreesPerBag, seed,
                      stream + 1, 1, stop);
        shares[s] = ForestMainShares(forest.trees, doubled.axes, 1, stop);
      },
      stop);
  if (stop.stop_requested()) return {};
  std::vector<double> most(axes, 0.0);
  for (const std::vector<double>& main : shares) {
    for (std::size_t i = 0; i < axes; ++i) {
      most[i] = std::max(most[i], main[axes + i]);
    }
  }
  return most;
}

namespace {

constexpr double kNoForest = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One number of every replicate.
template <typename Pick>
std::vector<double> Collect(const std::vector<Shares>& replicates,
                            const Pick& pick) {
  std::vector<double> values;
  values.reserve(replicates.size());
  for (const Shares& shares : replicates) values.push_back(pick(shares));
  return values;
}

// A tree's leaves are at most its trials, and every two of them are looked at.
double ForestWorkOfOne(const Dataset& data, int trees, int bootstraps) {
  const auto rows = static_cast<double>(data.rows());
  return rows * rows * (trees + static_cast<double>(bootstraps) * kTreesPerBag);
}

// Which parameters are paired, in the space's order.
std::vector<std::size_t> ChoosePairAxes(const Dataset& data,
                                        const Forest& forest) {
  std::vector<std::size_t> axes(data.axes.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  if (axes.size() <= kMaxPairParameters) return axes;
  const std::vector<int> ranks =
      RankByFalling(ForestMainShares(forest.trees, data.axes));
  std::erase_if(axes, [&ranks](std::size_t i) {
    return ranks[i] > static_cast<int>(kMaxPairParameters);
  });
  return axes;
}

std::vector<PairImportance> RankForestPairs(
    const Shares& shares, const std::vector<Shares>& replicates,
    const std::vector<std::size_t>& axes) {
  std::vector<PairImportance> pairs;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::size_t b = a + 1; b < axes.size(); ++b) {
      const std::size_t p = pairs.size();
      pairs.push_back({static_cast<int>(axes[a]), static_cast<int>(axes[b]),
                       ShareInterval(shares.pairs[p],
                                     Collect(replicates, [p](const Shares& s) {
                                       return s.pairs[p];
                                     }))});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const PairImportance& a, const PairImportance& b) {
                     return a.share.value > b.share.value;
                   });
  return pairs;
}

// Sets of one and two are what the report says of them elsewhere.
std::vector<SubsetImportance> DescribeForestSubsets(
    const NamedSubsets& subsets, const Shares& shares,
    const std::vector<Shares>& replicates, const Report& report) {
  std::vector<SubsetImportance> described;
  described.reserve(subsets.size());
  for (std::size_t s = 0; s < subsets.size(); ++s) {
    const SubsetVariance& share = shares.subsets[s];
    SubsetImportance one;
    one.parameters = subsets[s];
    one.together = ShareInterval(
        share.together, Collect(replicates, [s](const Shares& replicate) {
          return replicate.subsets[s].together;
        }));
    one.beyond = ShareInterval(
        share.beyond, Collect(replicates, [s](const Shares& replicate) {
          return replicate.subsets[s].beyond;
        }));
    if (subsets[s].size() == 1) {
      one.together =
          report.parameters[static_cast<std::size_t>(subsets[s][0])].main;
      one.beyond = one.together;
    }
    if (const PairImportance* const pair = FindPair(report.pairs, subsets[s])) {
      one.beyond = pair->share;
    }
    described.push_back(std::move(one));
  }
  return described;
}

std::vector<ParameterImportance> DescribeParameters(
    const Dataset& data, const Forest& forest, const Shares& shares,
    const std::vector<Shares>& replicates, const std::vector<double>& chance,
    int threads) {
  const auto curves = ForestCurves(forest.trees, data.axes, threads);
  const std::vector<int> ranks = RankByFalling(shares.main);
  std::vector<std::vector<double>> draws;
  draws.reserve(replicates.size());
  for (const Shares& one : replicates) draws.push_back(one.main);
  const std::vector<double> top3 = Top3Probabilities(shares.main, draws);
  std::vector<ParameterImportance> parameters;
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    ParameterImportance one;
    one.parameter = static_cast<int>(i);
    one.main = ShareInterval(
        shares.main[i],
        Collect(replicates, [i](const Shares& s) { return s.main[i]; }));
    one.total = ShareInterval(
        shares.total[i],
        Collect(replicates, [i](const Shares& s) { return s.total[i]; }));
    one.direction = DirectionOf(curves[i]);
    one.rank = ranks[i];
    one.top3_probability = top3[i];
    one.distinguishable = one.main.lo95 > chance[i];
    parameters.push_back(one);
  }
  return parameters;
}

}  // namespace

absl::StatusOr<Report> EvaluateForest(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options) {
  const Dataset data =
      MakeDataset(MeasureSpace(space), selection.points, selection.losses);
  RETURN_IF_ERROR(CheckTreeWork(data.rows(), data.axes.size(), options.trees));
  const bool draws = CanGrowForIntervals(data.rows(), data.axes.size(),
                                         TreesForIntervals(options.bootstraps));
  const int bootstraps = draws ? options.bootstraps : 0;
  RETURN_IF_ERROR(CheckSubsetWork(
      options.subsets, ForestWorkOfOne(data, options.trees, bootstraps)));
  const Forest forest =
      FitForest(data, data.targets, RowWeights(data.rows(), 1), options.trees,
                options.seed, 0, options.threads, options.stop);
  RETURN_IF_ERROR(CheckStop(options.stop));
  std::vector<std::size_t> pair_axes;
  if (options.pairs) pair_axes = ChoosePairAxes(data, forest);
  Shares shares = ForestShares(forest.trees, data.axes, pair_axes,
                               options.threads, options.stop);
  shares.subsets = ForestSubsetShares(forest.trees, data.axes, options.subsets,
                                      options.threads, options.stop);
  const std::vector<Shares> replicates =
      Replicate(data, bootstraps, options.seed, pair_axes, options.threads,
                options.subsets, options.stop);
  std::vector<double> chance(data.axes.size(), kInfinity);  // nobody looked
  if (draws) {
    chance =
        ChanceMainShares(data, options.seed, options.threads, options.stop);
  }
  RETURN_IF_ERROR(CheckStop(options.stop));
  Report report;
  report.trials_used = static_cast<std::int64_t>(data.rows());
  report.trials_left_out = selection.left_out;
  report.parameters = DescribeParameters(data, forest, shares, replicates,
                                         chance, options.threads);
  report.pairs = RankForestPairs(shares, replicates, pair_axes);
  report.subsets =
      DescribeForestSubsets(options.subsets, shares, replicates, report);
  report.unexplained = ShareInterval(
      shares.unexplained,
      Collect(replicates, [](const Shares& s) { return s.unexplained; }));
  report.main_draws.reserve(replicates.size());
  for (const Shares& one : replicates) report.main_draws.push_back(one.main);
  report.out_of_bag_r2 = OutOfBagR2(data, forest, options.threads);
  report.carried_by = {{"forest", 1.0}};
  report.noise_share = kNoForest;
  report.warnings = FindWarnings(space, data);
  if (!draws) {
    report.warnings.push_back(WarnOfNoIntervals(data.rows(), data.axes.size()));
  }
  return report;
}

}  // namespace frostline::importance
