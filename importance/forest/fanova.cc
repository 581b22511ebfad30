// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/fanova.h"

#include <algorithm>
#include <numeric>

#include "importance/forest/marginal.h"

namespace frostline {
namespace {

// Rounding may carry a share a little out of its range.
double Clip(double share) { return std::clamp(share, 0.0, 1.0); }

// Below this a tree is flat but for rounding: targets are scaled to [-1, 1].
constexpr double kFlat = 1e-28;

void DivideAll(std::vector<double>& sums, double count) {
  for (double& sum : sums) sum = count > 0.0 ? Clip(sum / count) : 0.0;
}

}  // namespace

Shares ForestShares(const std::vector<Tree>& trees,
                    const std::vector<MeasuredAxis>& axes,
                    const std::vector<std::size_t>& pair_axes) {
  Shares shares;
  shares.main.resize(axes.size(), 0.0);
  shares.total.resize(axes.size(), 0.0);
  if (!pair_axes.empty()) {
    shares.pairs.resize(pair_axes.size() * (pair_axes.size() - 1) / 2, 0.0);
  }
  double counted = 0.0;
  for (const Tree& tree : trees) {
    const TreeMarginals marginals(tree, axes);
    const double variance = marginals.variance();
    if (!(variance > kFlat)) continue;
    counted += 1.0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      shares.main[i] += marginals.MainVariance(i) / variance;
      shares.total[i] += marginals.TotalVariance(i) / variance;
    }
    if (pair_axes.empty()) continue;
    const std::vector<double> pairs = marginals.PairVariances(pair_axes);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      shares.pairs[p] += pairs[p] / variance;
    }
  }
  DivideAll(shares.main, counted);
  DivideAll(shares.total, counted);
  DivideAll(shares.pairs, counted);
  const double explained =
      std::accumulate(shares.main.begin(), shares.main.end(), 0.0) +
      std::accumulate(shares.pairs.begin(), shares.pairs.end(), 0.0);
  shares.unexplained = Clip(1.0 - explained);
  return shares;
}

std::vector<double> ForestMainShares(const std::vector<Tree>& trees,
                                     const std::vector<MeasuredAxis>& axes) {
  std::vector<double> main(axes.size(), 0.0);
  double counted = 0.0;
  for (const Tree& tree : trees) {
    const TreeMarginals marginals(tree, axes);
    if (!(marginals.variance() > kFlat)) continue;
    counted += 1.0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      main[i] += marginals.MainVariance(i) / marginals.variance();
    }
  }
  DivideAll(main, counted);
  return main;
}

std::vector<std::vector<double>> ForestCurves(
    const std::vector<Tree>& trees, const std::vector<MeasuredAxis>& axes) {
  std::vector<std::vector<double>> probes, curves;
  for (const MeasuredAxis& axis : axes) {
    probes.push_back(axis.is_ordered() ? axis.Probes() : std::vector<double>());
    curves.emplace_back(probes.back().size(), 0.0);
  }
  for (const Tree& tree : trees) {
    const TreeMarginals marginals(tree, axes);
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (probes[a].empty()) continue;
      const std::vector<double> curve = marginals.CurveAt(a, probes[a]);
      for (std::size_t i = 0; i < curve.size(); ++i) {
        curves[a][i] += curve[i] / static_cast<double>(trees.size());
      }
    }
  }
  return curves;
}

}  // namespace frostline
