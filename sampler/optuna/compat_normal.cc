// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat_normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace frostline::sampler {
namespace {

const double kLogSqrtOfTwoPi = std::log(std::sqrt(2.0 * std::numbers::pi));

// Φ in three pieces, each accurate where it is used.
double CompatNormalCdf(double x) {
  const double z = x / std::numbers::sqrt2;
  constexpr double kEdge = 1.0 / std::numbers::sqrt2;
  if (z < -kEdge) return 0.5 * std::erfc(-z);
  if (z < kEdge) return 0.5 + 0.5 * std::erf(z);
  return 1.0 - 0.5 * std::erfc(z);
}

// ln Φ far left by its asymptotic series (Abramowitz and Stegun, 26.2.12).
double CompatLogCdfFarLeft(double x) {
  const double lead =
      -0.5 * (x * x) - std::log(-x) - 0.5 * std::log(2.0 * std::numbers::pi);
  const double inverse_square = 1.0 / (x * x);
  double before = 0.0, sum = 1.0, numerator = 1.0, factor = 1.0, sign = 1.0;
  for (int i = 1;
       std::abs(before - sum) > std::numeric_limits<double>::epsilon(); ++i) {
    before = sum;
    sign = -sign;
    factor *= inverse_square;
    numerator *= 2 * i - 1;
    sum += sign * numerator * factor;
  }
  return lead + std::log(sum);
}

double LogCdf(double x) {
  if (x > 6.0) return -CompatNormalCdf(-x);
  if (x > -20.0) return std::log(CompatNormalCdf(x));
  return CompatLogCdfFarLeft(x);
}

// REQUIRES: b <= 0.
double LogMassLeft(double a, double b) {
  const double whole = LogCdf(b);
  return whole + std::log1p(-std::exp(LogCdf(a) - whole));
}

// numpy.logaddexp.
double CompatLogSum(double x, double y) {
  if (x == y) return x + std::numbers::ln2;
  const double gap = x - y;
  return gap > 0.0 ? x + std::log1p(std::exp(-gap))
                   : y + std::log1p(std::exp(gap));
}

double FirstGuess(double z) {
  if (z < -5.0) return -std::sqrt(-2.0 * (z + kLogSqrtOfTwoPi));
  const double scale = std::sqrt(3.0) / std::numbers::pi;
  return -scale * std::log(std::expm1(-z));
}

// The x with ln Φ(x) = y for every y, by Newton's method on all of them until
// none moves.
std::vector<double> InverseLogCdf(const std::vector<double>& targets) {
  std::vector<double> z, x;
  for (const double y : targets) {
    z.push_back(y > -1e-2 ? std::log(-std::expm1(y)) : y);
    x.push_back(FirstGuess(z.back()));
  }
  bool moves = true;
  for (int round = 0; round < 100 && moves; ++round) {
    moves = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double value = LogCdf(x[i]);
      const double slope = -0.5 * (x[i] * x[i]) - kLogSqrtOfTwoPi;
      const double step = (value - z[i]) * std::exp(value - slope);
      x[i] -= step;
      moves |= !(std::abs(step) < 1e-8 * std::abs(x[i]));
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (targets[i] > -1e-2) x[i] = -x[i];
  }
  return x;
}

}  // namespace

double CompatLogMass(double a, double b) {
  if (b <= 0.0) return LogMassLeft(a, b);
  if (a > 0.0) return LogMassLeft(-b, -a);
  const auto cdf = [](double x) {
    return 0.5 + 0.5 * std::erf(x / std::numbers::sqrt2);
  };
  return std::log1p(-cdf(a) - cdf(-b));
}

double CompatLogPdf(double x) { return -(x * x) / 2.0 - kLogSqrtOfTwoPi; }

std::vector<double> CompatPpf(const std::vector<CompatQuantile>& quantiles) {
  // Those that begin left of the middle and those that do not are two rounds.
  std::vector<double> left, right;
  for (const CompatQuantile& one : quantiles) {
    const double log_mass = CompatLogMass(one.a, one.b);
    if (one.a < 0.0) {
      left.push_back(
          CompatLogSum(LogCdf(one.a), std::log(one.share) + log_mass));
    } else {
      right.push_back(
          CompatLogSum(LogCdf(-one.b), std::log1p(-one.share) + log_mass));
    }
  }
  left = InverseLogCdf(left);
  right = InverseLogCdf(right);
  std::vector<double> values;
  values.reserve(quantiles.size());
  auto next_left = left.begin(), next_right = right.begin();
  for (const CompatQuantile& one : quantiles) {
    const double x = one.a < 0.0 ? *next_left++ : -*next_right++;
    const double value = one.share == 0.0 ? one.a : x;
    values.push_back(
        std::clamp(std::isnan(value) ? one.a : value, one.a, one.b));
  }
  return values;
}

}  // namespace frostline::sampler
