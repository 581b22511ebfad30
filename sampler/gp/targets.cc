// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/targets.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/plain/statistics.h"

namespace frostline::sampler {
namespace {

// In deviations from the median: beyond it a trial is just very good or bad.
constexpr double kFurthestBelow = 6.0;
constexpr double kFurthestAbove = 100.0;

// So that the difference of two losses cannot overflow.
constexpr double kScale = 0.25;

void Standardise(std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double square = 0.0;
  for (double& value : values) {
    value -= mean;
    square += value * value;
  }
  const double deviation = std::sqrt(square / n);
  for (double& value : values) {
    value = deviation > 1e-12 ? value / deviation : 0.0;
  }
}

// Of the median of all distances, lest one trial that happens to lie on the
// bound makes all others equally far.
constexpr double kLeastScale = 0.01;

double MedianOr(double otherwise, const std::vector<double>& values) {
  return values.empty() ? otherwise : Quantile(values, 0.5);
}

double ConstraintScaleOf(const std::vector<double>& values) {
  std::vector<double> kept, broken, all;
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0.0) continue;
    const double distance = std::abs(value);
    (value > 0.0 ? broken : kept).push_back(distance);
    all.push_back(distance);
  }
  if (all.empty()) return 1.0;
  const double median = Quantile(all, 0.5);
  const double nearer =
      std::min(MedianOr(median, kept), MedianOr(median, broken));
  return std::max(nearer, kLeastScale * median);
}

}  // namespace

std::vector<double> TargetsOf(const std::vector<double>& losses) {
  std::vector<double> sorted;
  for (const double loss : losses) {
    if (std::isfinite(loss)) sorted.push_back(loss * kScale);
  }
  if (sorted.empty()) return std::vector<double>(losses.size(), 0.0);
  std::sort(sorted.begin(), sorted.end());
  const double median = QuantileOfSorted(sorted, 0.5);
  const double upper = QuantileOfSorted(sorted, 0.75);
  // One deviation, were the losses normal, by the better half and, where that
  // is all of a piece, by the upper quarter.
  const double spread = std::max(
      {(median - QuantileOfSorted(sorted, 0.1)) / 1.28,
       0.25 * (upper - median) / 0.674, 1e-12 * std::abs(median), 1e-300});
  std::vector<double> targets;
  for (const double loss : losses) {
    const double scaled = std::isfinite(loss) ? loss * kScale : upper;
    const double distance =
        std::clamp((scaled - median) / spread, -kFurthestBelow, kFurthestAbove);
    targets.push_back(distance > 0.0 ? std::log1p(distance) : distance);
  }
  Standardise(targets);
  return targets;
}

ConstraintTargets ConstraintTargetsOf(const std::vector<double>& values) {
  constexpr double kMost = 1e300;  // so that twice as much is finite
  const double scale = ConstraintScaleOf(values);
  double furthest_kept = 1.0, furthest_broken = 1.0;
  std::vector<double> targets;
  for (const double value : values) {
    targets.push_back(value);
    if (!std::isfinite(value)) continue;
    targets.back() = std::clamp(value / scale, -kMost, kMost);
    furthest_kept = std::max(furthest_kept, -targets.back());
    furthest_broken = std::max(furthest_broken, targets.back());
  }
  for (double& target : targets) {
    target = std::asinh(
        std::clamp(target, -2.0 * furthest_kept, 2.0 * furthest_broken));
  }
  targets.push_back(0.0);  // the bound goes the way of the values
  Standardise(targets);
  ConstraintTargets constraint;
  constraint.bound = targets.back();
  targets.pop_back();
  constraint.targets = std::move(targets);
  return constraint;
}

}  // namespace frostline::sampler
