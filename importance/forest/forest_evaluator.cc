// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/forest_evaluator.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "importance/forest/fanova.h"
#include "importance/forest/forest.h"
#include "importance/measure/numbers.h"
#include "importance/measure/parallel.h"
#include "importance/report.h"

namespace frostline::importance {
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

// Every axis once more, the copies' rows dealt out anew: a copy is as its
// axis, but nothing can be known from it.
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
    const SubsetShare& share = shares.subsets[s];
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
  if (draws && options.chance) {
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
