// SPDX-License-Identifier: Apache-2.0
#include "importance/ped/ped_axis.h"

#include <algorithm>
#include <variant>

#include "importance/measure/measured_axis.h"
#include "importance/ped/grid_density.h"
#include "importance/ped/ped_grid.h"
#include "study/point.h"

namespace frostline::importance {
namespace {

// Places after those of the grid.
constexpr std::size_t kFrozenPlace = 0;
constexpr std::size_t kLacking = 1;
constexpr std::ptrdiff_t kOddPlaces = 2;

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

PedAxis::PedAxis(const Domain& domain, const std::vector<double>& values,
                 const PedAnovaOptions& options)
    : options_(options) {
  const PedGrid grid(domain, !options.conditional);
  places_ = grid.size();
  has_neighbours_ = grid.has_neighbours();
  is_ordered_ = !std::holds_alternative<Categorical>(domain);
  const auto* const rate = std::get_if<LogUniform>(&domain);
  has_frozen_ = rate != nullptr && rate->freeze;
  place_of_trial_.reserve(values.size());
  for (const double value : values) {
    std::size_t place = places_ + kLacking;
    if (IsAbsent(value)) {
      is_partial_ = true;
    } else if (has_frozen_ && value == 0.0) {
      place = places_ + kFrozenPlace;
    } else {
      place = grid.PlaceOf(value);
    }
    place_of_trial_.push_back(static_cast<std::uint16_t>(place));
  }
}

bool PedAxis::Varies(const CountedTrials& trials) const {
  return std::any_of(trials.begin(), trials.end(), [&](const auto& trial) {
    return place_of_trial_[trial.first] !=
           place_of_trial_[trials.front().first];
  });
}

PedAxis::Counts PedAxis::Count(const CountedTrials& trials) const {
  // Whole numbers, and nothing but them in the loop: it is all the work.
  std::vector<std::uint32_t> places(places_ + kOddPlaces, 0);
  for (const auto& [trial, times] : trials) {
    places[place_of_trial_[trial]] += times;
  }
  Counts counts;
  counts.places.assign(places.begin(), places.end() - kOddPlaces);
  for (const double count : counts.places) counts.live += count;
  counts.frozen = places[places_ + kFrozenPlace];
  counts.all = counts.having() + places[places_ + kLacking];
  return counts;
}

std::vector<double> PedAxis::DensityOf(const Counts& counts) const {
  std::vector<double> density;
  if (counts.live == 0.0) {
    density.assign(places_, 1.0 / static_cast<double>(places_));
  } else {
    density = has_neighbours_ ? DensityOnGrid(counts.places)
                              : DensityOfChoices(counts.places);
  }
  for (double& share : density) share += kFloor;
  return density;
}

bool PedAxis::IsMute(const Counts& region) const {
  if (places_ < 2 && !has_frozen_) return true;
  if (region.having() < kFewestTrials) return true;
  return !options_.conditional && (is_partial_ || region.all <= kFewestTrials);
}

double PedAxis::Divergence(const Counts& region,
                           const std::vector<double>& whole,
                           const Counts& good) const {
  const double live = PearsonDivergence(DensityOf(good), whole);
  if (!has_frozen_) return live;
  const double now = FrozenShareOf(good.frozen, good.live);
  const double ever =
      options_.local ? FrozenShareOf(region.frozen, region.live) : kFrozenMass;
  // Divergences of parts add up to that of the mixture.
  return Square(now) / ever + Square(1.0 - now) / (1.0 - ever) * (live + 1.0) -
         1.0;
}

std::vector<double> PedAxis::Importances(
    const CountedTrials& region, const std::vector<CountedTrials>& good) const {
  std::vector<double> importances(good.size(), 0.0);
  const Counts all = Count(region);
  if (IsMute(all)) return importances;
  std::vector<double> whole(places_, 1.0 / static_cast<double>(places_));
  if (options_.local) whole = DensityOf(all);
  for (std::size_t g = 0; g < good.size(); ++g) {
    const Counts best = Count(good[g]);
    if (best.having() == 0.0) continue;
    importances[g] = Square(best.having() / best.all) /
                     (all.having() / all.all) * Divergence(all, whole, best) *
                     Square(best.all / all.all);
  }
  return importances;
}

std::vector<double> PedAxis::Preference(const CountedTrials& region,
                                        const CountedTrials& good) const {
  const Counts all = Count(region);
  const Counts best = Count(good);
  if (!is_ordered_ || places_ < 2 || all.live == 0.0 || best.live == 0.0) {
    return {};
  }
  const std::vector<double> whole = DensityOf(all);
  std::vector<double> ratio = DensityOf(best);
  for (std::size_t g = 0; g < ratio.size(); ++g) ratio[g] /= whole[g];
  return ratio;
}

}  // namespace frostline::importance
