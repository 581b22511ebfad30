// SPDX-License-Identifier: Apache-2.0
#include "base/plain/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "importance/measure/numbers.h"

namespace frostline::importance {

Interval ShareInterval(double value, const std::vector<double>& replicates) {
  if (replicates.empty()) return {value, value, value, value, value};
  const double shift = value - Quantile(replicates, 0.5);
  const auto end = [&](double q, double lo, double hi) {
    return std::clamp(Quantile(replicates, q) + shift, lo, hi);
  };
  return {value, end(0.1, 0.0, value), end(0.9, value, 1.0),
          end(0.025, 0.0, value), end(0.975, value, 1.0)};
}

Interval IntervalOfDraws(double value, std::vector<double> draws) {
  if (draws.empty()) return {value, value, value, value, value};
  std::sort(draws.begin(), draws.end());
  return {value, std::min(QuantileOfSorted(draws, 0.1), value),
          std::max(QuantileOfSorted(draws, 0.9), value),
          std::min(QuantileOfSorted(draws, 0.025), value),
          std::max(QuantileOfSorted(draws, 0.975), value)};
}

std::vector<int> RankByFalling(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::vector<int> ranks(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ranks[order[i]] = static_cast<int>(i) + 1;
  }
  return ranks;
}

std::vector<double> Top3Probabilities(
    const std::vector<double>& values,
    const std::vector<std::vector<double>>& draws) {
  std::vector<double> probabilities(values.size(), 0.0);
  const auto count = [&probabilities](const std::vector<double>& draw) {
    const std::vector<int> ranks = RankByFalling(draw);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] <= 3) probabilities[i] += 1.0;
    }
  };
  if (draws.empty()) count(values);
  for (const std::vector<double>& draw : draws) count(draw);
  const double of = draws.empty() ? 1.0 : static_cast<double>(draws.size());
  for (double& probability : probabilities) probability /= of;
  return probabilities;
}

double DirectionOf(std::vector<double> losses) {
  if (losses.empty()) return std::numeric_limits<double>::quiet_NaN();
  for (double& loss : losses) loss = -loss;
  std::vector<double> order(losses.size());
  std::iota(order.begin(), order.end(), 0.0);
  return RankCorrelation(order, losses);
}

double ClearDirectionOf(std::vector<double> losses) {
  if (losses.empty()) return DirectionOf(std::move(losses));
  const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
  const double step = (*high - *low) / 50.0;
  const double from = *low;
  for (double& loss : losses) {
    loss = step > 0.0 ? std::round((loss - from) / step) : 0.0;
  }
  return DirectionOf(std::move(losses));
}

double StudentQuantile(double z, double freedom) {
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4.0 * freedom) +
         (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * freedom * freedom) +
         (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) /
             (384.0 * freedom * freedom * freedom);
}

double LogChiSquaredTail(double x, double k) {
  const double spread = 2.0 / (9.0 * k);
  const double z = (std::cbrt(x / k) - (1.0 - spread)) / std::sqrt(spread);
  // The normal's own tail formula, where erfc would underflow.
  if (z > 30.0) {
    return -z * z / 2.0 - std::log(z * std::sqrt(2.0 * std::numbers::pi));
  }
  return std::log(0.5 * std::erfc(z / std::numbers::sqrt2));
}

}  // namespace frostline::importance
