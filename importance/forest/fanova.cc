// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/fanova.h"

#include <algorithm>
#include <numeric>

#include "importance/forest/marginal.h"
#include "importance/forest/subset_effect.h"
#include "importance/measure/parallel.h"

namespace frostline::importance {
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
