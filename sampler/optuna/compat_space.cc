// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat_space.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>

#include "sampler/draw/numeric_range.h"

namespace frostline::sampler {
namespace {

Categorical Choices(std::size_t count) {
  Categorical choices;
  for (std::size_t i = 0; i < count; ++i) {
    choices.choices.push_back(std::to_string(i));
  }
  return choices;
}

Domain AsInOptuna(const Domain& domain, bool levels_are_integers) {
  if (const auto* d = std::get_if<Levels>(&domain)) {
    if (!levels_are_integers) return Choices(d->rates.size());
    return IntRange{0, static_cast<std::int64_t>(d->rates.size()) - 1, 1,
                    false};
  }
  if (const auto* d = std::get_if<LogUniform>(&domain)) {
    return LogUniform{d->lo, d->hi, false};
  }
  return domain;
}

bool CanFreeze(const Domain& domain) {
  const auto* const rate = std::get_if<LogUniform>(&domain);
  return rate != nullptr && rate->freeze;
}

}  // namespace

CompatSpace::CompatSpace(Space space, bool levels_are_integers)
    : space_(std::move(space)) {
  for (std::size_t i = 0; i < space_.parameters().size(); ++i) {
    const Parameter& parameter = space_.parameters()[i];
    CompatParameter ours;
    ours.source = i;
    if (CanFreeze(parameter.domain)) {
      ours.name = parameter.name + ".frozen";
      ours.domain = Choices(2);
      ours.is_switch = true;
      parameters_.push_back(ours);
      ours.is_switch = false;
      ours.has_switch = true;
    }
    ours.name = parameter.name;
    ours.domain = AsInOptuna(parameter.domain, levels_are_integers);
    ours.is_single = CountValues(ours.domain) == 1.0;
    parameters_.push_back(std::move(ours));
  }
  by_name_.resize(parameters_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::stable_sort(by_name_.begin(), by_name_.end(),
                   [this](std::size_t a, std::size_t b) {
                     return parameters_[a].name < parameters_[b].name;
                   });
}

CompatRow CompatSpace::RowOf(const Point& point) const {
  CompatRow row;
  row.reserve(parameters_.size());
  for (const CompatParameter& parameter : parameters_) {
    const double value = point[parameter.source];
    if (IsAbsent(value)) {
      row.push_back(kAbsent);
    } else if (parameter.is_switch) {
      row.push_back(value == 0.0 ? 1.0 : 0.0);
    } else {
      row.push_back(parameter.has_switch && value == 0.0 ? kAbsent : value);
    }
  }
  return row;
}

bool CompatSpace::IsAsked(std::size_t i, const Point& point,
                          const CompatRow& row) const {
  const CompatParameter& parameter = parameters_[i];
  if (!space_.IsActive(static_cast<int>(parameter.source), point)) return false;
  return !parameter.has_switch || row[i - 1] == 0.0;
}

void CompatSpace::Write(std::size_t i, double value, Point& point) const {
  const CompatParameter& parameter = parameters_[i];
  if (!parameter.is_switch) {
    point[parameter.source] = value;
  } else if (value == 1.0) {
    point[parameter.source] = 0.0;
  }
}

double DrawCompatRandom(const Domain& domain, OptunaVersion version,
                        NumpyStream& stream) {
  if (const auto* d = std::get_if<Categorical>(&domain)) {
    const std::vector<double> scores = stream.Uniforms(d->choices.size());
    return static_cast<double>(std::max_element(scores.begin(), scores.end()) -
                               scores.begin());
  }
  const NumericRange range = *NumericRangeOf(domain);
  const double place = stream.Uniform(range.box_lo, range.box_hi);
  double value = range.log ? std::exp(place) : place;
  if (range.step == 0.0) {
    value = std::min(value, std::nextafter(range.hi, range.hi - 1.0));
  } else if (range.log) {
    value = std::nearbyint(value);
  } else {
    // Version 5 rounds halves of integers up, everything else to even.
    const double steps = (value - range.lo) / range.step;
    const bool up = version == OptunaVersion::kV5 &&
                    std::holds_alternative<IntRange>(domain);
    value = range.lo +
            (up ? std::floor(steps + 0.5) : std::nearbyint(steps)) * range.step;
  }
  return std::clamp(value, range.lo, range.hi);
}

}  // namespace frostline::sampler
