// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/numeric_range.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace frostline::sampler {
namespace {

NumericRange Make(double lo, double hi, double step, bool log) {
  NumericRange range{lo, hi, step, log};
  range.box_lo = range.ToBox(lo - step / 2.0);
  range.box_hi = range.ToBox(hi + step / 2.0);
  return range;
}

}  // namespace

double NumericRange::ToBox(double value) const {
  return log ? std::log(value) : value;
}

double NumericRange::FromBox(double place) const {
  double value = log ? std::exp(place) : place;
  if (step > 0.0) value = lo + std::nearbyint((value - lo) / step) * step;
  return std::clamp(value, lo, hi);
}

std::optional<NumericRange> NumericRangeOf(const Domain& domain) {
  if (const auto* d = std::get_if<Levels>(&domain)) {
    return Make(0.0, static_cast<double>(d->rates.size()) - 1.0, 1.0, false);
  }
  if (const auto* d = std::get_if<LogUniform>(&domain)) {
    return Make(d->lo, d->hi, 0.0, true);
  }
  if (const auto* d = std::get_if<FloatRange>(&domain)) {
    if (d->step == 0.0) return Make(d->lo, d->hi, 0.0, d->log);
    // lo + k * step may round to just above hi, which is not in the domain.
    const double last = d->lo + (CountValues(domain) - 1.0) * d->step;
    return Make(d->lo, std::min(last, d->hi), d->step, false);
  }
  if (const auto* d = std::get_if<IntRange>(&domain)) {
    const std::int64_t last = d->hi - (d->hi - d->lo) % d->step;
    return Make(static_cast<double>(d->lo), static_cast<double>(last),
                static_cast<double>(d->step), d->log);
  }
  return std::nullopt;
}

}  // namespace frostline::sampler
