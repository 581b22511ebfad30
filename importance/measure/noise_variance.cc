// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/noise_variance.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

namespace frostline::importance {
namespace {

// Leaves one of the runs that have a seed and a loss in common.
void DropReruns(const std::vector<double>& losses,
                const std::vector<std::uint64_t>& seeds,
                std::vector<std::size_t>& group) {
  if (seeds.empty()) return;
  std::set<std::pair<std::uint64_t, double>> seen;
  std::erase_if(group, [&](std::size_t i) {
    return seeds[i] != 0 && !seen.emplace(seeds[i], losses[i]).second;
  });
}

// Squared distances from the mean of some losses, and how many are free.
void AddSpread(const std::vector<double>& losses,
               const std::vector<std::size_t>& group, double& squares,
               double& freedom) {
  const auto n = static_cast<double>(group.size());
  double mean = 0.0;
  for (const std::size_t i : group) mean += losses[i] / n;
  for (const std::size_t i : group) {
    squares += (losses[i] - mean) * (losses[i] - mean);
  }
  freedom += n - 1.0;
}

}  // namespace

RepeatNoise NoiseAtEqualPoints(const std::vector<const Point*>& points,
                               const std::vector<double>& losses,
                               const std::vector<std::uint64_t>& seeds) {
  // Equal points have equal hashes and so come one after the other.
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  order.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    order.emplace_back(HashPoint(*points[i]), i);
  }
  std::sort(order.begin(), order.end());
  double squares = 0.0, freedom = 0.0;
  std::vector<std::size_t> open, group, others;
  for (std::size_t i = 0; i < order.size();) {
    const std::uint64_t hash = order[i].first;
    open.clear();
    for (; i < order.size() && order[i].first == hash; ++i) {
      open.push_back(order[i].second);
    }
    // More than one round only when different points have one hash.
    while (open.size() > 1) {
      group.clear();
      others.clear();
      for (const std::size_t k : open) {
        const bool same = SamePoint(*points[k], *points[open.front()]);
        (same ? group : others).push_back(k);
      }
      DropReruns(losses, seeds, group);
      AddSpread(losses, group, squares, freedom);
      open.swap(others);
    }
  }
  return {.variance = freedom > 0.0 ? squares / freedom
                                    : std::numeric_limits<double>::quiet_NaN(),
          .freedom = freedom};
}

}  // namespace frostline::importance
