// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "statistics/scores/correlation.h"

namespace frostline::statistics {
namespace {

double CountAt(Times times, std::size_t i) {
  return times.empty() ? 1.0 : static_cast<double>(times[i]);
}

double Count(std::span<const double> numbers, Times times) {
  return times.empty() ? static_cast<double>(numbers.size())
                       : static_cast<double>(std::accumulate(
                             times.begin(), times.end(), std::uint64_t{0}));
}

double Mean(std::span<const double> numbers, Times times, double count) {
  double sum = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (times.empty() || times[i] > 0) sum += CountAt(times, i) * numbers[i];
  }
  return sum / count;
}

bool AllFinite(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return std::isfinite(number); });
}

bool Constant(std::span<const double> numbers, Times times) {
  std::optional<double> first;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!times.empty() && times[i] == 0) continue;
    if (!first.has_value()) first = numbers[i];
    if (numbers[i] != *first) return false;
  }
  return true;
}

std::vector<std::size_t> RisingOrder(std::span<const double> numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return numbers[a] < numbers[b];
  });
  return order;
}

// From 1, with equal numbers at the mean of their places.
std::vector<double> Ranks(std::span<const double> numbers,
                          const std::vector<std::size_t>& order, Times times) {
  std::vector<double> ranks(numbers.size());
  double before = 0.0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double equal = 0.0;
    for (end = begin; end < order.size(); ++end) {
      if (numbers[order[end]] != numbers[order[begin]]) break;
      equal += CountAt(times, order[end]);
    }
    const double rank = before + (1.0 + equal) / 2.0;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    before += equal;
  }
  return ranks;
}

}  // namespace

std::optional<double> MeanSquaredError(std::span<const double> truth,
                                       std::span<const double> prediction,
                                       Times times) {
  const double count = Count(truth, times);
  if (count == 0.0) return std::nullopt;
  double sum = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = truth[i] - prediction[i];
    sum += CountAt(times, i) * (error * error);
  }
  return sum / count;
}

std::optional<double> Pearson(std::span<const double> truth,
                              std::span<const double> prediction, Times times) {
  const double count = Count(truth, times);
  if (count < 2.0) return std::nullopt;
  if (!AllFinite(truth) || !AllFinite(prediction)) return std::nullopt;
  if (Constant(truth, times) || Constant(prediction, times)) {
    return std::nullopt;
  }
  const double truth_mean = Mean(truth, times, count);
  const double prediction_mean = Mean(prediction, times, count);
  double both = 0.0;
  double truth_squares = 0.0;
  double prediction_squares = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double a = truth[i] - truth_mean;
    const double b = prediction[i] - prediction_mean;
    const double often = CountAt(times, i);
    both += often * (a * b);
    truth_squares += often * (a * a);
    prediction_squares += often * (b * b);
  }
  // Two roots: the product of two sums may be too small for a double.
  const double below = std::sqrt(truth_squares) * std::sqrt(prediction_squares);
  if (below == 0.0 || !std::isfinite(below)) return std::nullopt;
  return std::clamp(both / below, -1.0, 1.0);
}

std::optional<double> Spearman(std::span<const double> truth,
                               std::span<const double> prediction) {
  return ResampledSpearman(truth, prediction).At({});
}

ResampledSpearman::ResampledSpearman(std::span<const double> truth,
                                     std::span<const double> prediction)
    : truth_(truth),
      prediction_(prediction),
      finite_(AllFinite(truth) && AllFinite(prediction)) {
  // Without an order of numbers that are none.
  if (!finite_) return;
  truth_order_ = RisingOrder(truth);
  prediction_order_ = RisingOrder(prediction);
}

std::optional<double> ResampledSpearman::At(Times times) const {
  if (!finite_) return std::nullopt;
  return Pearson(Ranks(truth_, truth_order_, times),
                 Ranks(prediction_, prediction_order_, times), times);
}

}  // namespace frostline::statistics
