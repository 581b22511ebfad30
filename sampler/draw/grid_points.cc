// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/grid_points.h"

namespace frostline::sampler {

GridPoints::GridPoints(const Space& space) : space_(space) {
  for (const Parameter& parameter : space_.parameters()) {
    const double last = CountValues(parameter.domain) - 1.0;
    ranges_.push_back(NumericRangeOf(parameter.domain)
                          .value_or(NumericRange{.lo = 0.0,
                                                 .hi = last,
                                                 .step = 1.0,
                                                 .box_lo = -0.5,
                                                 .box_hi = last + 0.5}));
  }
}

void GridPoints::Reset(int begin, Point& point) const {
  for (int i = begin; i < space_.size(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    point[index] = space_.IsActive(i, point) ? ranges_[index].lo : kAbsent;
  }
}

Point GridPoints::First() const {
  Point point(ranges_.size(), kAbsent);
  Reset(0, point);
  return point;
}

bool GridPoints::Advance(Point& point) const {
  for (int i = space_.size() - 1; i >= 0; --i) {
    const auto index = static_cast<std::size_t>(i);
    double& value = point[index];
    const NumericRange& range = ranges_[index];
    if (IsAbsent(value) || value >= range.hi) continue;
    value = range.FromBox(range.ToBox(value + range.step));
    Reset(i + 1, point);
    return true;
  }
  Reset(0, point);
  return false;
}

Point GridPoints::Snap(Point point) const {
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (IsAbsent(point[i])) continue;
    point[i] = ranges_[i].FromBox(ranges_[i].ToBox(point[i]));
  }
  return point;
}

std::int64_t GridPoints::Count(std::int64_t limit) const {
  // What does not depend on a condition is a lower bound, found at once.
  double always = 1.0;
  for (const Parameter& parameter : space_.parameters()) {
    if (!parameter.condition.has_value()) {
      always *= CountValues(parameter.domain);
    }
  }
  if (always > static_cast<double>(limit)) return limit + 1;
  if (!space_.HasConditions()) return static_cast<std::int64_t>(always);
  std::int64_t count = 1;
  for (Point point = First(); count <= limit && Advance(point);) ++count;
  return count;
}

}  // namespace frostline::sampler
