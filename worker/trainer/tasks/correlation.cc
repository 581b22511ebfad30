// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/tasks/correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace frostline::trainer {
namespace {

double Mean(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) /
         static_cast<double>(numbers.size());
}

bool AllFinite(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return std::isfinite(number); });
}

bool Constant(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](double number) { return number == numbers.front(); });
}

// From 1, with equal numbers at the mean of their places.
std::vector<double> Ranks(std::span<const double> numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return numbers[a] < numbers[b];
  });
  std::vector<double> ranks(numbers.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && numbers[order[end]] == numbers[order[begin]]) {
      ++end;
    }
    const double rank = static_cast<double>(begin + 1 + end) / 2.0;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    begin = end;
  }
  return ranks;
}

}  // namespace

std::optional<double> MeanSquaredError(std::span<const double> truth,
                                       std::span<const double> prediction) {
  if (truth.empty()) return std::nullopt;
  double sum = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = truth[i] - prediction[i];
    sum += error * error;
  }
  return sum / static_cast<double>(truth.size());
}

std::optional<double> Pearson(std::span<const double> truth,
                              std::span<const double> prediction) {
  if (truth.size() < 2) return std::nullopt;
  if (!AllFinite(truth) || !AllFinite(prediction)) return std::nullopt;
  if (Constant(truth) || Constant(prediction)) return std::nullopt;
  const double truth_mean = Mean(truth);
  const double prediction_mean = Mean(prediction);
  double both = 0.0;
  double truth_squares = 0.0;
  double prediction_squares = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double a = truth[i] - truth_mean;
    const double b = prediction[i] - prediction_mean;
    both += a * b;
    truth_squares += a * a;
    prediction_squares += b * b;
  }
  // Two roots: the product of two sums may be too small for a double.
  const double below = std::sqrt(truth_squares) * std::sqrt(prediction_squares);
  if (below == 0.0 || !std::isfinite(below)) return std::nullopt;
  return std::clamp(both / below, -1.0, 1.0);
}

std::optional<double> Spearman(std::span<const double> truth,
                               std::span<const double> prediction) {
  if (!AllFinite(truth) || !AllFinite(prediction)) return std::nullopt;
  return Pearson(Ranks(truth), Ranks(prediction));
}

}  // namespace frostline::trainer
