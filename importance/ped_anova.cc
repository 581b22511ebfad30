// SPDX-License-Identifier: Apache-2.0
#include "importance/ped_anova.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "importance/grid_density.h"
#include "importance/measured_axis.h"
#include "importance/ped_grid.h"

namespace frostline {
namespace {

// Places no grid has.
constexpr std::uint16_t kLacking = 0xFFFF;
constexpr std::uint16_t kFrozenPlace = 0xFFFE;

// Keeps densities apart from zero.
constexpr double kFloor = 1e-12;

constexpr double kFewestTrials = 2.0;

double Square(double x) { return x * x; }

// The share of frozen among so many trials, one more being split as the space
// is: a share of exactly nothing would be more than the trials can tell.
double FrozenShareOf(double frozen, double live) {
  return (frozen + kFrozenMass) / (frozen + live + 1.0);
}

}  // namespace

TrialCounts BestTrials(const std::vector<double>& losses, double quantile,
                       const PedAnovaOptions& options,
                       const TrialCounts& weights) {
  std::vector<double> sorted;
  sorted.reserve(losses.size());
  for (std::size_t t = 0; t < losses.size(); ++t) {
    sorted.insert(sorted.end(), weights[t], losses[t]);
  }
  const double least = options.conditional ? 1.0 : 2.0;
  const double kept =
      std::clamp(std::ceil(quantile * static_cast<double>(sorted.size())),
                 std::min(least, static_cast<double>(sorted.size())),
                 static_cast<double>(sorted.size()));
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(kept) - 1;
  std::nth_element(sorted.begin(), last, sorted.end());
  TrialCounts best(losses.size(), 0);
  for (std::size_t t = 0; t < losses.size(); ++t) {
    if (losses[t] <= *last) best[t] = weights[t];
  }
  return best;
}

PedAnova::PedAnova(const Space& space, const std::vector<const Point*>& points,
                   const PedAnovaOptions& options)
    : options_(options) {
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    const Domain& domain = space.parameters()[i].domain;
    const PedGrid grid(domain, !options.conditional);
    Axis axis;
    axis.places = grid.size();
    axis.has_grid = grid.has_neighbours();
    axis.is_ordered = !std::holds_alternative<Categorical>(domain);
    const auto* const rate = std::get_if<LogUniform>(&domain);
    axis.has_frozen = rate != nullptr && rate->freeze;
    axis.place_of_trial.reserve(points.size());
    for (const Point* const point : points) {
      const double value = (*point)[i];
      std::uint16_t place = kLacking;
      if (IsAbsent(value)) {
        axis.is_partial = true;
      } else if (axis.has_frozen && value == 0.0) {
        place = kFrozenPlace;
      } else {
        place = grid.PlaceOf(value);
      }
      axis.place_of_trial.push_back(place);
    }
    axes_.push_back(std::move(axis));
  }
}

PedAnova::Counts PedAnova::Count(const Axis& axis,
                                 const TrialCounts& weights) const {
  Counts counts;
  counts.places.assign(axis.places, 0.0);
  double lacking = 0.0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    if (weights[t] == 0) continue;
    const double weight = weights[t];
    counts.all += weight;
    const std::uint16_t place = axis.place_of_trial[t];
    if (place < axis.places) {
      counts.places[place] += weight;
    } else {
      (place == kLacking ? lacking : counts.frozen) += weight;
    }
  }
  counts.live = counts.all - counts.frozen - lacking;
  return counts;
}

std::vector<double> PedAnova::DensityOf(const Axis& axis,
                                        const Counts& counts) const {
  std::vector<double> density;
  if (counts.live == 0.0) {
    density.assign(axis.places, 1.0 / static_cast<double>(axis.places));
  } else {
    density = axis.has_grid ? DensityOnGrid(counts.places)
                            : DensityOfChoices(counts.places);
  }
  for (double& share : density) share += kFloor;
  return density;
}

double PedAnova::ImportanceOf(const Axis& axis, const Counts& region,
                              const Counts& good) const {
  const double having = region.live + region.frozen;
  const double good_having = good.live + good.frozen;
  if (axis.places < 2 && !axis.has_frozen) return 0.0;
  if (having < kFewestTrials || good_having == 0.0) return 0.0;
  if (!options_.conditional &&
      (axis.is_partial || region.all <= kFewestTrials)) {
    return 0.0;
  }
  std::vector<double> whole(axis.places,
                            1.0 / static_cast<double>(axis.places));
  if (options_.local) whole = DensityOf(axis, region);
  double divergence = PearsonDivergence(DensityOf(axis, good), whole);
  if (axis.has_frozen) {
    // Divergences of parts add up to that of the mixture.
    const double now = FrozenShareOf(good.frozen, good.live);
    const double ever = options_.local
                            ? FrozenShareOf(region.frozen, region.live)
                            : kFrozenMass;
    divergence = Square(now) / ever +
                 Square(1.0 - now) / (1.0 - ever) * (divergence + 1.0) - 1.0;
  }
  return Square(good_having / good.all) / (having / region.all) * divergence *
         Square(good.all / region.all);
}

std::vector<double> PedAnova::Importances(const TrialCounts& region,
                                          const TrialCounts& good) const {
  std::vector<double> importances;
  importances.reserve(axes_.size());
  for (const Axis& axis : axes_) {
    importances.push_back(
        ImportanceOf(axis, Count(axis, region), Count(axis, good)));
  }
  return importances;
}

std::vector<double> PedAnova::Preference(std::size_t parameter,
                                         const TrialCounts& region,
                                         const TrialCounts& good) const {
  const Axis& axis = axes_[parameter];
  const Counts all = Count(axis, region);
  const Counts best = Count(axis, good);
  if (!axis.is_ordered || axis.places < 2 || all.live == 0.0 ||
      best.live == 0.0) {
    return {};
  }
  const std::vector<double> whole = DensityOf(axis, all);
  std::vector<double> ratio = DensityOf(axis, best);
  for (std::size_t g = 0; g < ratio.size(); ++g) ratio[g] /= whole[g];
  return ratio;
}

std::vector<int> PedAnova::Partial() const {
  std::vector<int> partial;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].is_partial) partial.push_back(static_cast<int>(i));
  }
  return partial;
}

}  // namespace frostline
