// SPDX-License-Identifier: Apache-2.0
#include "importance/ped/ped_grid.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace frostline::importance {
namespace {

constexpr std::size_t kMostPlaces = 50;

struct Range {
  double low = 0.0;
  double high = 0.0;
  bool log = false;
  std::size_t places = kMostPlaces;
};

std::size_t AtMost(double places) {
  return static_cast<std::size_t>(
      std::clamp(places, 1.0, static_cast<double>(kMostPlaces)));
}

Range PedRangeOf(const FloatRange& domain) {
  Range range{domain.lo, domain.hi, domain.log, kMostPlaces};
  if (domain.step > 0.0) {
    const double values = CountValues(domain);
    range.high = domain.lo + (values - 1.0) * domain.step;
    range.places = AtMost(values);
  }
  return range;
}

Range PedRangeOf(const IntRange& domain) {
  Range range{static_cast<double>(domain.lo), static_cast<double>(domain.hi),
              domain.log, kMostPlaces};
  if (domain.log) {
    const double values = range.high - range.low + 1.0;
    range.places = AtMost(std::ceil(std::log(values) / std::log(2.0)) + 1.0);
  } else {
    const double values = CountValues(domain);
    range.high = range.low + (values - 1.0) * static_cast<double>(domain.step);
    range.places = AtMost(values);
  }
  return range;
}

}  // namespace

PedGrid::PedGrid(const Domain& domain, bool compares_places)
    : compares_places_(compares_places) {
  Range range;
  if (const auto* number = std::get_if<FloatRange>(&domain)) {
    range = PedRangeOf(*number);
  } else if (const auto* integer = std::get_if<IntRange>(&domain)) {
    range = PedRangeOf(*integer);
  } else if (const auto* rate = std::get_if<LogUniform>(&domain)) {
    range = {rate->lo, rate->hi, true, kMostPlaces};
  } else {
    size_ = static_cast<std::size_t>(CountValues(domain));
    return;
  }
  size_ = range.places;
  has_neighbours_ = true;
  log_ = range.log;
  if (size_ < 2) return;
  low_ = log_ ? std::log(range.low) : range.low;
  const double high = log_ ? std::log(range.high) : range.high;
  // Halves, because the range of two finite numbers need not be finite.
  half_step_ = (high / 2.0 - low_ / 2.0) / static_cast<double>(size_ - 1);
  for (std::size_t g = 0; g < size_; ++g) {
    places_.push_back(low_ + static_cast<double>(g) * (2.0 * half_step_));
  }
  places_.back() = high;
}

std::uint16_t PedGrid::PlaceOf(double value) const {
  if (!has_neighbours_) return static_cast<std::uint16_t>(value);
  if (size_ < 2) return 0;
  const double at = log_ ? std::log(value) : value;
  if (compares_places_) {
    const double half = (places_[1] - places_[0]) / 2.0;
    const auto found =
        std::lower_bound(places_.begin(), places_.end() - 1, at - half);
    return static_cast<std::uint16_t>(found - places_.begin());
  }
  const double place = std::clamp((at / 2.0 - low_ / 2.0) / half_step_ - 0.5,
                                  0.0, static_cast<double>(size_ - 1));
  const auto below = static_cast<std::uint16_t>(place);
  return static_cast<std::uint16_t>(below < place ? below + 1 : below);
}

}  // namespace frostline::importance
