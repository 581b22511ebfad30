// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "sampler/split/pareto.h"

namespace frostline::sampler {
namespace {

using SubsetIndices = std::vector<std::size_t>;

// One index for each distinct point, in lexicographic order.
SubsetIndices DistinctOf(const LossVectors& points) {
  SubsetIndices order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  order.erase(std::unique(order.begin(), order.end(),
                          [&](std::size_t a, std::size_t b) {
                            return points[a] == points[b];
                          }),
              order.end());
  return order;
}

// A front's points lie side by side, so each adds a rectangle up to its chosen
// neighbours. `order` is consumed.
SubsetIndices SelectOfTwo(const LossVectors& points, SubsetIndices order,
                          const std::vector<double>& reference,
                          std::size_t count) {
  LossVectors corners(order.size(), reference);
  SubsetIndices chosen;
  while (chosen.size() < count) {
    std::size_t best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::vector<double>& point = points[order[k]];
      const double added =
          (corners[k][0] - point[0]) * (corners[k][1] - point[1]);
      if (added > most) {
        most = added;
        best = k;
      }
    }
    const std::vector<double>& taken = points[order[best]];
    chosen.push_back(order[best]);
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(best));
    corners.erase(corners.begin() + static_cast<std::ptrdiff_t>(best));
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t side = k < best ? 0 : 1;
      corners[k][side] = std::min(corners[k][side], taken[side]);
    }
  }
  return chosen;
}

// What a point adds only falls as others are chosen, so who added less than the
// best of now when last looked at need not be looked at again.
SubsetIndices SelectLazily(const LossVectors& points,
                           const SubsetIndices& order,
                           const std::vector<double>& reference,
                           std::size_t count) {
  std::vector<double> at_most;
  for (const std::size_t i : order) {
    at_most.push_back(BoxVolume(points[i], reference));
  }
  SubsetIndices places(order.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  SubsetIndices chosen;
  LossVectors taken;
  while (chosen.size() < count) {
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return at_most[a] != at_most[b] ? at_most[a] > at_most[b] : a < b;
    });
    auto best = places.begin();
    double most = -1.0;
    for (auto k = places.begin(); k != places.end() && at_most[*k] >= most;
         ++k) {
      double& added = at_most[*k];
      added = std::max(0.0, AddedVolume(points[order[*k]], taken, reference));
      if (added > most || (added == most && *k < *best)) {
        most = added;
        best = k;
      }
    }
    chosen.push_back(order[*best]);
    taken.push_back(points[order[*best]]);
    places.erase(best);
  }
  return chosen;
}

}  // namespace

std::vector<std::size_t> SelectByHypervolume(
    const LossVectors& points, const std::vector<double>& reference,
    std::size_t count) {
  SubsetIndices all(points.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (count >= points.size()) return all;
  SubsetIndices distinct = DistinctOf(points);
  if (distinct.size() < count) {
    std::vector<bool> is_twin(points.size(), true);
    for (const std::size_t i : distinct) is_twin[i] = false;
    std::size_t twins = count - distinct.size();
    std::erase_if(all, [&](std::size_t i) {
      return is_twin[i] && (twins == 0 || twins-- == 0);
    });
    return all;
  }
  const bool finite =
      std::all_of(reference.begin(), reference.end(),
                  [](double value) { return std::isfinite(value); });
  // Without a volume to compare, the lexicographic order decides.
  if (!finite || distinct.size() == count) {
    distinct.resize(count);
    return distinct;
  }
  return reference.size() == 2
             ? SelectOfTwo(points, std::move(distinct), reference, count)
             : SelectLazily(points, distinct, reference, count);
}

}  // namespace frostline::sampler
