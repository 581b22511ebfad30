// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "study/objective.h"

namespace frostline {
namespace {

double BoxVolume(const std::vector<double>& point,
                 const std::vector<double>& reference) {
  double volume = 1.0;
  for (std::size_t m = 0; m < point.size(); ++m) {
    volume *= std::max(0.0, reference[m] - point[m]);
  }
  return volume;
}

// What `point` adds to the volume of `others` (While et al., 2012): its box
// less what the others, moved into that box, dominate.
double Addition(const std::vector<double>& point, const LossVectors& others,
                const std::vector<double>& reference) {
  LossVectors limited = others;
  for (std::vector<double>& other : limited) {
    for (std::size_t m = 0; m < point.size(); ++m) {
      other[m] = std::max(other[m], point[m]);
    }
  }
  return BoxVolume(point, reference) -
         Hypervolume(std::move(limited), reference);
}

LossVectors FrontOf(LossVectors points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  LossVectors front;
  // Sorted, a point can only be dominated by one before it.
  for (const std::vector<double>& point : points) {
    const bool dominated =
        std::any_of(front.begin(), front.end(),
                    [&](const auto& other) { return Dominates(other, point); });
    if (!dominated) front.push_back(point);
  }
  return front;
}

double AreaOf(const LossVectors& front, const std::vector<double>& reference) {
  double area = 0.0;
  double ceiling = reference[1];  // the front falls as it goes right
  for (const std::vector<double>& point : front) {
    area += std::max(0.0, reference[0] - point[0]) *
            std::max(0.0, ceiling - point[1]);
    ceiling = std::min(ceiling, point[1]);
  }
  return area;
}

// A little beyond the worst value of every objective.
std::vector<double> ReferenceOf(const LossVectors& points) {
  std::vector<double> reference = points[0];
  for (const std::vector<double>& point : points) {
    for (std::size_t m = 0; m < point.size(); ++m) {
      reference[m] = std::max(reference[m], point[m]);
    }
  }
  for (double& worst : reference) {
    worst = std::max(1.1 * worst, 0.9 * worst);
    if (worst == 0.0) worst = 1e-12;
  }
  return reference;
}

// Indices into `points`, which nobody of them dominates.
std::vector<std::size_t> Greedy(const LossVectors& points, std::size_t count) {
  const std::vector<double> reference = ReferenceOf(points);
  const bool finite =
      std::all_of(reference.begin(), reference.end(),
                  [](double value) { return std::isfinite(value); });
  std::vector<std::size_t> rest(points.size());
  std::iota(rest.begin(), rest.end(), std::size_t{0});
  // Without a volume to compare, and for twins, the older one goes first.
  if (!finite || count == points.size()) {
    rest.resize(count);
    return rest;
  }
  std::vector<std::size_t> chosen;
  LossVectors taken;
  while (chosen.size() < count) {
    auto best = rest.begin();
    double most = -1.0;
    for (auto i = rest.begin(); i != rest.end(); ++i) {
      const bool twin =
          std::find(taken.begin(), taken.end(), points[*i]) != taken.end();
      const double gain = twin ? -0.5 : Addition(points[*i], taken, reference);
      if (gain > most) {
        most = gain;
        best = i;
      }
    }
    chosen.push_back(*best);
    taken.push_back(points[*best]);
    rest.erase(best);
  }
  return chosen;
}

}  // namespace

std::vector<int> NonDominationRanks(const LossVectors& losses) {
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return losses[a] < losses[b];
  });
  std::vector<int> ranks(losses.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    int& rank = ranks[order[i]];
    for (std::size_t j = 0; j < i; ++j) {
      if (ranks[order[j]] >= rank &&
          Dominates(losses[order[j]], losses[order[i]])) {
        rank = ranks[order[j]] + 1;
      }
    }
  }
  return ranks;
}

double Hypervolume(LossVectors points, const std::vector<double>& reference) {
  const LossVectors front = FrontOf(std::move(points));
  if (reference.size() == 2) return AreaOf(front, reference);
  double volume = 0.0;
  LossVectors before;
  for (const std::vector<double>& point : front) {
    volume += Addition(point, before, reference);
    before.push_back(point);
  }
  return volume;
}

std::vector<std::size_t> BestByHypervolume(const LossVectors& losses,
                                           std::size_t count) {
  const std::vector<int> ranks = NonDominationRanks(losses);
  std::vector<std::size_t> best;
  for (int rank = 0; best.size() < count; ++rank) {
    std::vector<std::size_t> members;
    LossVectors points;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (ranks[i] != rank) continue;
      members.push_back(i);
      points.push_back(losses[i]);
    }
    const std::size_t wanted = std::min(count - best.size(), members.size());
    if (wanted == 0) break;
    for (const std::size_t i : Greedy(points, wanted))
      best.push_back(members[i]);
  }
  return best;
}

}  // namespace frostline
