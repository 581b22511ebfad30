// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <variant>

#include "sampler/gp/level_axis.h"

namespace frostline::sampler {
namespace {

// Where a value lies between the ends of its line, 0 … 1.
double ShareOf(const NumericRange& range, double value) {
  const double lo = range.ToBox(range.lo), hi = range.ToBox(range.hi);
  // Halved, because a range may be as wide as a double can hold.
  const double width = hi / 2.0 - lo / 2.0;
  if (!(width > 0.0)) return 0.0;
  return std::clamp((range.ToBox(value) / 2.0 - lo / 2.0) / width, 0.0, 1.0);
}

double AtShare(const NumericRange& range, double share) {
  const double lo = range.ToBox(range.lo), hi = range.ToBox(range.hi);
  return range.FromBox(lo * (1.0 - share) + hi * share);
}

// Values of the line: indices of levels without the frozen one, else all.
std::vector<double> LineValues(const Domain& domain, bool frozen_value) {
  std::vector<double> values = ListValues(domain);
  if (frozen_value) values.erase(values.begin());
  return values;
}

bool FreezesByValue(const Domain& domain) {
  if (const auto* d = std::get_if<Levels>(&domain)) return d->rates[0] == 0.0;
  const auto* d = std::get_if<LogUniform>(&domain);
  return d != nullptr && d->freeze;
}

bool IsRateAxis(const Domain& domain) {
  return std::holds_alternative<Levels>(domain) ||
         std::holds_alternative<LogUniform>(domain);
}

LevelAxis MakeAxis(const Parameter& parameter) {
  LevelAxis axis;
  const Domain& domain = parameter.domain;
  axis.ordered = !std::holds_alternative<Categorical>(domain);
  axis.range = NumericRangeOf(domain);
  axis.frozen_value = FreezesByValue(domain);
  axis.has_kind = axis.frozen_value || parameter.condition.has_value();
  axis.exact = CountValues(domain) <= kLineCells;
  if (axis.exact) axis.values = LineValues(domain, axis.frozen_value);
  axis.line_cells =
      axis.exact ? static_cast<int>(axis.values.size()) : kLineCells;
  for (int cell = 0; cell < axis.line_cells; ++cell) {
    const double share =
        !axis.range.has_value() ? 0.0
        : axis.exact
            ? ShareOf(*axis.range, axis.values[static_cast<std::size_t>(cell)])
            : static_cast<double>(cell) / (kLineCells - 1);
    axis.places.push_back(kAxisLength * share);
  }
  // Frozen is next to the smallest rate, if to any. What is absent for another
  // reason is nearest to the middle.
  const double anchor = IsRateAxis(domain) ? 0.0 : kAxisLength / 2.0;
  if (axis.has_kind) axis.places.push_back(anchor);
  return axis;
}

}  // namespace

int LevelAxis::CellOf(double value) const {
  if (IsAbsent(value)) return line_cells;
  if (frozen_value && value == 0.0) return line_cells;
  if (!exact) {
    const double share = ShareOf(*range, value);
    return static_cast<int>(std::nearbyint(share * (kLineCells - 1)));
  }
  // Stepped values carry the rounding of whoever computed them.
  const auto after = std::lower_bound(values.begin(), values.end(), value);
  if (after == values.begin()) return 0;
  if (after == values.end()) return line_cells - 1;
  const auto index = static_cast<int>(after - values.begin());
  return *after - value <= value - *(after - 1) ? index : index - 1;
}

double LevelAxis::ValueOf(int cell) const {
  if (cell >= line_cells) return frozen_value ? 0.0 : kAbsent;
  if (exact) return values[static_cast<std::size_t>(cell)];
  return AtShare(*range, static_cast<double>(cell) / (kLineCells - 1));
}

double LevelAxis::DrawValueOf(int cell, Rng& rng) const {
  if (exact || cell >= line_cells) return ValueOf(cell);
  const double place = cell + rng.Uniform() - 0.5;
  return AtShare(*range, std::clamp(place / (kLineCells - 1), 0.0, 1.0));
}

std::optional<std::vector<LevelAxis>> MakeLevelAxes(const Space& space) {
  std::vector<LevelAxis> axes;
  for (const Parameter& parameter : space.parameters()) {
    const auto* choices = std::get_if<Categorical>(&parameter.domain);
    if (choices != nullptr && choices->choices.size() > kLineCells) {
      return std::nullopt;
    }
    axes.push_back(MakeAxis(parameter));
  }
  return axes;
}

}  // namespace frostline::sampler
