// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/finite_tree.h"

#include <algorithm>
#include <cmath>

namespace frostline::sampler {
namespace {

bool IsMet(const Condition& condition, double parent) {
  if (condition.values.empty()) {
    return parent >= condition.min && parent <= condition.max;
  }
  return std::find(condition.values.begin(), condition.values.end(), parent) !=
         condition.values.end();
}

NumericRange TreeRangeOf(const Domain& domain) {
  const double last = CountValues(domain) - 1.0;
  return NumericRangeOf(domain).value_or(
      NumericRange{.lo = 0.0, .hi = last, .step = 1.0});
}

}  // namespace

FiniteTree::FiniteTree(const Space& space)
    : space_(space),
      children_(static_cast<std::size_t>(space.size())),
      own_(children_.size()),
      counts_(children_.size(), 0.0) {
  for (int i = 0; i < space_.size(); ++i) {
    const Parameter& parameter =
        space_.parameters()[static_cast<std::size_t>(i)];
    ranges_.push_back(TreeRangeOf(parameter.domain));
    branches_.push_back(
        static_cast<std::int32_t>(CountValues(parameter.domain)));
    if (!parameter.condition.has_value()) continue;
    children_[static_cast<std::size_t>(parameter.condition->parent)].push_back(
        i);
  }
  // Children come after their parents, so their counts are there before.
  for (std::size_t i = children_.size(); i-- > 0;) {
    if (children_[i].empty()) {
      counts_[i] = branches_[i];
      continue;
    }
    for (std::int32_t branch = 0; branch < branches_[i]; ++branch) {
      own_[i].push_back(CountWays(i, branch));
      counts_[i] = std::min(counts_[i] + own_[i].back(), kCountlessPoints);
    }
  }
}

double FiniteTree::CountWays(std::size_t parameter, std::int32_t branch) const {
  double ways = 1.0;
  for (const int child : children_[parameter]) {
    const auto index = static_cast<std::size_t>(child);
    if (IsMet(*space_.parameters()[index].condition,
              ValueOf(parameter, branch))) {
      ways = std::min(ways * counts_[index], kCountlessPoints);
    }
  }
  return ways;
}

double FiniteTree::ValueOf(std::size_t parameter, std::int32_t branch) const {
  const NumericRange& range = ranges_[parameter];
  return range.FromBox(range.ToBox(range.lo + branch * range.step));
}

double FiniteTree::CountOwn(std::size_t parameter, std::int32_t branch) const {
  return own_[parameter].empty()
             ? 1.0
             : own_[parameter][static_cast<std::size_t>(branch)];
}

double FiniteTree::CountPending(int last, const Point& point) const {
  double ways = 1.0;
  for (int i = last + 1; i < space_.size() && ways < kCountlessPoints; ++i) {
    const auto index = static_cast<std::size_t>(i);
    // What hangs on a parameter without a value is not active.
    if (!space_.IsActive(i, point)) continue;
    ways = std::min(ways * counts_[index], kCountlessPoints);
  }
  return ways;
}

Path FiniteTree::PathOf(const Point& point) const {
  Path path(point.size(), kNoBranch);
  Point snapped = point;
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (IsAbsent(point[i])) continue;
    const double branch =
        std::nearbyint((point[i] - ranges_[i].lo) / ranges_[i].step);
    path[i] = static_cast<std::int32_t>(
        std::clamp(branch, 0.0, static_cast<double>(branches_[i] - 1)));
    snapped[i] = ValueOf(i, path[i]);
  }
  // Rounding may have decided a condition.
  return space_.Check(snapped).ok() ? path : Path();
}

}  // namespace frostline::sampler
