// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "statistics/law/distributions.h"

namespace frostline::statistics {
namespace {

constexpr double kNormalFrom = 1e7;  // degrees of freedom
constexpr int kMostTerms = 100'000;
constexpr int kHalvings = 200;

// The continued fraction of I_x(a, b), by Lentz's method.
double BetaFraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  const auto away_from_0 = [](double v) {
    return std::abs(v) < kTiny ? kTiny : v;
  };
  double c = 1.0;
  double d = 1.0 / away_from_0(1.0 - (a + b) * x / (a + 1.0));
  double fraction = d;
  for (int i = 1; i < kMostTerms; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd =
        -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1.0;
    for (const double term : {even, odd}) {
      d = 1.0 / away_from_0(1.0 + term * d);
      c = away_from_0(1.0 + term / c);
      factor = c * d;
      fraction *= factor;
    }
    if (std::abs(factor - 1.0) < 1e-15) break;
  }
  return fraction;
}

// I_x(a, b), with y = 1 - x told apart: near 1 it would lose its digits.
double IncompleteBeta(double x, double y, double a, double b) {
  if (x <= 0.0) return 0.0;
  if (y <= 0.0) return 1.0;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
               a * std::log(x) + b * std::log(y));
  if (x < (a + 1.0) / (a + b + 2.0)) return front * BetaFraction(x, a, b) / a;
  return 1.0 - front * BetaFraction(y, b, a) / b;
}

// Where a rising function crosses p.
template <typename Below>
double Crossing(double p, Below below) {
  double low = -1.0, high = 1.0;
  while (below(low) > p) low *= 2.0;
  while (below(high) < p) high *= 2.0;
  for (int i = 0; i < kHalvings && low < high; ++i) {
    const double middle = low + (high - low) / 2.0;
    if (middle == low || middle == high) break;
    (below(middle) < p ? low : high) = middle;
  }
  return low + (high - low) / 2.0;
}

double LogOfCoin(double heads, double throws) {
  return std::lgamma(throws + 1.0) - std::lgamma(heads + 1.0) -
         std::lgamma(throws - heads + 1.0) - throws * std::numbers::ln2;
}

}  // namespace

double NormalBelow(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double NormalQuantile(double p) { return Crossing(p, NormalBelow); }

double StudentBelow(double t, double freedom) {
  if (std::isnan(t) || std::isnan(freedom)) return std::nan("");
  if (freedom > kNormalFrom) return NormalBelow(t);
  if (std::isinf(t)) return t < 0.0 ? 0.0 : 1.0;
  const double whole = freedom + t * t;
  const double tail =
      0.5 * IncompleteBeta(freedom / whole, t * t / whole, freedom / 2.0, 0.5);
  return t < 0.0 ? tail : 1.0 - tail;
}

double StudentQuantile(double p, double freedom) {
  return Crossing(p, [freedom](double t) { return StudentBelow(t, freedom); });
}

double CoinAtMost(std::int64_t heads, std::int64_t throws) {
  if (heads < 0) return 0.0;
  if (heads >= throws) return 1.0;
  if (2 * heads >= throws) return 1.0 - CoinAtMost(throws - heads - 1, throws);
  const auto n = static_cast<double>(throws);
  // Terms fall from the largest on, by a factor that falls too.
  double term = std::exp(LogOfCoin(static_cast<double>(heads), n));
  double sum = 0.0;
  for (auto k = static_cast<double>(heads); k >= 0.0; k -= 1.0) {
    sum += term;
    if (term < sum * 1e-17) break;
    term *= k / (n - k + 1.0);
  }
  return sum;
}

}  // namespace frostline::statistics
