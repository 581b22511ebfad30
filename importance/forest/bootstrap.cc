// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/bootstrap.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "importance/forest/forest.h"
#include "importance/measure/numbers.h"
#include "importance/measure/parallel.h"

namespace frostline::importance {
namespace {

// Streams of one seed, far apart; the forest itself has those from 0.
constexpr std::uint64_t kBagStream = std::uint64_t{1} << 32;
constexpr std::uint64_t kShuffleStream = std::uint64_t{2} << 32;
// Of one bag or shuffle: its own draw, then its trees.
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

}  // namespace frostline::importance
