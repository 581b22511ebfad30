// SPDX-License-Identifier: Apache-2.0
#include "importance/ped/ped_anova.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "importance/measure/parallel.h"

namespace frostline::importance {
namespace {

// Values of a point that lie in one line of a processor's memory: they are
// taken from it together.
constexpr std::size_t kNeighbours = 8;

}  // namespace

CountedTrials BestTrials(const std::vector<double>& losses, double quantile,
                         const PedAnovaOptions& options,
                         const CountedTrials& among) {
  std::vector<double> sorted;
  sorted.reserve(among.size());
  for (const auto& [trial, times] : among) {
    sorted.insert(sorted.end(), times, losses[trial]);
  }
  const auto n = static_cast<double>(sorted.size());
  const double least = options.conditional ? 1.0 : 2.0;
  const double kept = std::min(n, std::max(least, std::ceil(quantile * n)));
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(kept) - 1;
  std::nth_element(sorted.begin(), last, sorted.end());
  CountedTrials best;
  for (const auto& [trial, times] : among) {
    if (losses[trial] <= *last) best.emplace_back(trial, times);
  }
  return best;
}

std::vector<PedAxis> MakePedAxes(const Space& space,
                                 const std::vector<const Point*>& points,
                                 const PedAnovaOptions& options, int threads) {
  const std::size_t count = space.parameters().size();
  std::vector<std::optional<PedAxis>> made(count);
  const std::size_t blocks = (count + kNeighbours - 1) / kNeighbours;
  ParallelFor(threads, blocks, [&](std::size_t block) {
    const std::size_t begin = block * kNeighbours;
    const std::size_t end = std::min(begin + kNeighbours, count);
    std::vector<std::vector<double>> columns(
        end - begin, std::vector<double>(points.size()));
    for (std::size_t t = 0; t < points.size(); ++t) {
      for (std::size_t i = begin; i < end; ++i) {
        columns[i - begin][t] = (*points[t])[i];
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      made[i].emplace(space.parameters()[i].domain, columns[i - begin],
                      options);
    }
  });
  std::vector<PedAxis> axes;
  axes.reserve(count);
  for (std::optional<PedAxis>& axis : made) axes.push_back(*std::move(axis));
  return axes;
}

std::vector<double> PedImportances(const std::vector<PedAxis>& axes,
                                   const CountedTrials& region,
                                   const CountedTrials& good) {
  std::vector<double> importances(axes.size(), 0.0);
  // Of trials that are all at one point nothing can be said; the densities
  // would differ all the same, by how many trials they are of.
  const bool varies = std::any_of(
      axes.begin(), axes.end(),
      [&region](const PedAxis& axis) { return axis.Varies(region); });
  if (!varies) return importances;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    importances[i] = axes[i].Importances(region, {good}).front();
  }
  return importances;
}

}  // namespace frostline::importance
