// SPDX-License-Identifier: Apache-2.0
#include "statistics/law.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <numbers>
#include <vector>

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

double StudentFromNormal(double z, double freedom) {
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

namespace {

constexpr std::int64_t kMostCounted = 10'000;

// The law of the positive part: entry i is the probability that those of
// positive sign sum up to i.
std::vector<double> LawOfPositives(std::span<const std::int64_t> differences,
                                   std::size_t total) {
  std::vector<double> law(total + 1, 0.0);
  law[0] = 1.0;
  std::size_t reached = 0;
  for (const std::int64_t difference : differences) {
    const auto size = static_cast<std::size_t>(std::abs(difference));
    if (size == 0) continue;
    reached += size;
    for (std::size_t i = reached + 1; i-- > 0;) {
      law[i] = 0.5 * law[i] + (i >= size ? 0.5 * law[i - size] : 0.0);
    }
  }
  return law;
}

}  // namespace

double McNemarP(std::int64_t gained, std::int64_t lost) {
  return std::min(1.0, 2.0 * CoinAtMost(std::min(gained, lost), gained + lost));
}

double SignsP(std::span<const std::int64_t> differences) {
  std::int64_t gained = 0, lost = 0, largest = 0;
  double squares = 0.0;
  for (const std::int64_t difference : differences) {
    (difference > 0 ? gained : lost) += std::abs(difference);
    largest = std::max<std::int64_t>(largest, std::abs(difference));
    squares +=
        static_cast<double>(difference) * static_cast<double>(difference);
  }
  if (largest <= 1) return McNemarP(gained, lost);
  const std::int64_t total = gained + lost;
  const std::int64_t apart = std::abs(gained - lost);
  if (apart == 0) return 1.0;
  if (total > kMostCounted) {
    const double far = static_cast<double>(apart - 1) / std::sqrt(squares);
    return std::min(1.0, 2.0 * NormalBelow(-far));
  }
  const std::vector<double> law =
      LawOfPositives(differences, static_cast<std::size_t>(total));
  double p = 0.0;
  for (std::int64_t i = 0; i <= total; ++i) {
    if (std::abs(2 * i - total) >= apart) p += law[static_cast<std::size_t>(i)];
  }
  return std::min(1.0, p);
}

namespace {

constexpr int kProportionHalvings = 100;
constexpr double kNearOne = 1.0 - 1e-12;

// Where `holds` becomes true between low, where it is not, and high.
template <typename Holds>
double Turn(double low, double high, Holds holds) {
  for (int i = 0; i < kProportionHalvings; ++i) {
    const double middle = low + (high - low) / 2.0;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

double PairedCounts::Difference() const {
  return static_cast<double>(gained - lost) / static_cast<double>(examples);
}

double TangoScore(const PairedCounts& counts, double d) {
  const auto n = static_cast<double>(counts.examples);
  const auto gained = static_cast<double>(counts.gained);
  const auto lost = static_cast<double>(counts.lost);
  const double a = 2.0 * n;
  const double b = -gained - lost + (2.0 * n - gained + lost) * d;
  const double c = -lost * d * (1.0 - d);
  const double root = std::sqrt(std::max(0.0, b * b - 4.0 * a * c));
  // The rate at which the first alone is right: at least -d.
  const double q = std::max({(root - b) / (2.0 * a), 0.0, -d});
  const double variance = n * (2.0 * q + d * (1.0 - d));
  const double apart = gained - lost - n * d;
  if (variance > 0.0) return apart / std::sqrt(variance);
  return apart == 0.0 ? 0.0 : std::copysign(HUGE_VAL, apart);
}

Range TangoInterval(const PairedCounts& counts, double z) {
  const double seen = counts.Difference();
  Range range{-1.0, 1.0};
  if (seen > -kNearOne) {
    range.low = Turn(-kNearOne, seen,
                     [&](double d) { return TangoScore(counts, d) <= z; });
  }
  if (seen < kNearOne) {
    range.high = Turn(seen, kNearOne,
                      [&](double d) { return TangoScore(counts, d) < -z; });
  }
  return range;
}

double SmallestProportion(const PairedCounts& counts, double alpha,
                          double power) {
  const auto n = static_cast<double>(counts.examples);
  const double differing = static_cast<double>(counts.gained + counts.lost) / n;
  const double z_alpha = NormalQuantile(1.0 - alpha / 2.0);
  const double z_power = NormalQuantile(power);
  const auto found = [&](double d) {
    // A difference of d takes at least as many that differ.
    const double rate = std::max(differing, d);
    const double needed = z_alpha * std::sqrt(rate) +
                          z_power * std::sqrt(std::max(0.0, rate - d * d));
    return needed * needed <= n * d * d;
  };
  const double fewest = std::ceil(1.0 - std::log2(alpha));
  return std::min(1.0, std::max(Turn(0.0, 1.0, found), fewest / n));
}

std::vector<double> HolmAdjusted(const std::vector<double>& p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted = p;
  double so_far = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    so_far = std::max(so_far, std::min(1.0, left * p[order[i]]));
    adjusted[order[i]] = so_far;
  }
  return adjusted;
}

}  // namespace frostline::statistics
