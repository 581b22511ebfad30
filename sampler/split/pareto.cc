// SPDX-License-Identifier: Apache-2.0
#include "sampler/split/pareto.h"

#include <algorithm>
#include <numeric>

#include "study/objective.h"

namespace frostline::sampler {
namespace {

using Indices = std::vector<std::size_t>;

// Sorted so, a point can only be dominated by one before it.
Indices Lexicographic(const LossVectors& points) {
  Indices order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  return order;
}

bool IsDominatedBy(const Indices& front, const LossVectors& losses,
                   std::size_t point) {
  // With two objectives the latest member is the best in the second one.
  const std::size_t look = losses[point].size() == 2 ? 1 : front.size();
  return std::any_of(front.rbegin(),
                     front.rbegin() + static_cast<std::ptrdiff_t>(look),
                     [&](std::size_t other) {
                       return Dominates(losses[other], losses[point]);
                     });
}

// The members of each rank, by rising index.
std::vector<Indices> FrontsOf(const std::vector<int>& ranks) {
  std::vector<Indices> fronts;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    if (rank >= fronts.size()) fronts.resize(rank + 1);
    fronts[rank].push_back(i);
  }
  return fronts;
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

}  // namespace

std::vector<int> NonDominationRanks(const LossVectors& losses) {
  std::vector<int> ranks(losses.size(), 0);
  std::vector<Indices> fronts;
  for (const std::size_t i : Lexicographic(losses)) {
    // Whoever a front dominates, the fronts before it dominate too.
    const auto found = std::partition_point(
        fronts.begin(), fronts.end(),
        [&](const Indices& front) { return IsDominatedBy(front, losses, i); });
    ranks[i] = static_cast<int>(found - fronts.begin());
    if (found == fronts.end()) {
      fronts.push_back({i});
    } else {
      found->push_back(i);
    }
  }
  return ranks;
}

std::vector<int> NonDominationRanks(const LossVectors& losses,
                                    const std::vector<double>& violations) {
  Indices kept;
  LossVectors feasible;
  std::vector<double> broken;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (violations[i] > 0.0) {
      broken.push_back(violations[i]);
    } else {
      kept.push_back(i);
      feasible.push_back(losses[i]);
    }
  }
  std::sort(broken.begin(), broken.end());
  broken.erase(std::unique(broken.begin(), broken.end()), broken.end());
  const std::vector<int> best = NonDominationRanks(feasible);
  int behind = 0;
  std::vector<int> ranks(losses.size());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    ranks[kept[k]] = best[k];
    behind = std::max(behind, best[k] + 1);
  }
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!(violations[i] > 0.0)) continue;
    const auto place =
        std::lower_bound(broken.begin(), broken.end(), violations[i]);
    ranks[i] = behind + static_cast<int>(place - broken.begin());
  }
  return ranks;
}

std::vector<std::size_t> BestByHypervolume(const LossVectors& losses,
                                           std::size_t count) {
  Indices best;
  for (const Indices& members : FrontsOf(NonDominationRanks(losses))) {
    if (best.size() == count) break;
    if (members.size() <= count - best.size()) {
      best.insert(best.end(), members.begin(), members.end());
      continue;
    }
    LossVectors points;
    for (const std::size_t i : members) points.push_back(losses[i]);
    for (const std::size_t i : SelectByHypervolume(points, ReferenceOf(points),
                                                   count - best.size())) {
      best.push_back(members[i]);
    }
  }
  return best;
}

}  // namespace frostline::sampler
