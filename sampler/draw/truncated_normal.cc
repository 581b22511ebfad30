// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/truncated_normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace frostline::sampler {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLogHalf = -std::numbers::ln2;

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// ln(e^x - e^y) and ln(e^x + e^y). REQUIRES: x >= y.
double LogDifference(double x, double y) {
  const double gap = y - x;
  if (std::isnan(gap)) return -kInfinity;  // both are -infinity
  return x + (gap > kLogHalf ? std::log(-std::expm1(gap))
                             : std::log1p(-std::exp(gap)));
}
double LogSum(double x, double y) {
  if (x < y) std::swap(x, y);
  return x == -kInfinity ? x : x + std::log1p(std::exp(y - x));
}

// Mills' ratio as a continued fraction (Laplace): far out it converges in a few
// terms and never underflows. REQUIRES: x <= -20.
double LogCdfFarLeft(double x) {
  double tail = 0.0;
  for (int k = 30; k >= 1; --k) tail = k / (-x + tail);
  return -x * x / 2.0 - kLogSqrtTwoPi - std::log(-x + tail);
}

// Around the middle m of a narrow interval the density is a parabola:
// φ(m) w (1 + (m² - 1) w²/24 + …). The next term is of order (m w)^4.
bool IsNarrow(double a, double b) {
  const double width = b - a;
  return width * std::max(1.0, std::abs(a / 2.0 + b / 2.0)) < 1e-3;
}
double LogMassOfNarrow(double a, double b) {
  const double width = b - a;
  const double middle = a + width / 2.0;
  return -middle * middle / 2.0 - kLogSqrtTwoPi + std::log(width) +
         std::log1p((middle * middle - 1.0) * width * width / 24.0);
}

}  // namespace

double LogNormalCdf(double x) {
  if (x > 0.0) return std::log1p(-NormalCdf(-x));
  if (x > -20.0) return std::log(NormalCdf(x));
  return LogCdfFarLeft(x);
}

double InverseLogNormalCdf(double y) {
  if (y >= 0.0) return kInfinity;
  if (y == -kInfinity) return -kInfinity;
  // Close to 1 the upper tail is the well-conditioned one.
  if (y > -1e-2) return -InverseLogNormalCdf(std::log(-std::expm1(y)));
  double x =
      y < -5.0 ? -std::sqrt(-2.0 * (y + kLogSqrtTwoPi))
               : -std::sqrt(3.0) / std::numbers::pi * std::log(std::expm1(-y));
  // Newton's method on ln Φ, which is concave: it converges from anywhere.
  for (int i = 0; i < 100; ++i) {
    const double value = LogNormalCdf(x);
    const double slope = std::exp(-x * x / 2.0 - kLogSqrtTwoPi - value);
    const double move = (value - y) / slope;
    x -= move;
    // Errors square at each step, so what is left is below one rounding.
    if (std::abs(move) <= 1e-9 * std::abs(x) || std::abs(move) < 1e-300) break;
  }
  return x;
}

double LogNormalMass(double a, double b) {
  if (IsNarrow(a, b)) return LogMassOfNarrow(a, b);
  if (b <= 0.0) return LogDifference(LogNormalCdf(b), LogNormalCdf(a));
  if (a > 0.0) return LogDifference(LogNormalCdf(-a), LogNormalCdf(-b));
  return std::log1p(-NormalCdf(a) - NormalCdf(-b));
}

double TruncatedNormalLogPdf(double x, double a, double b) {
  if (!(x >= a && x <= b)) return -kInfinity;
  if (a == b) return kInfinity;
  return -x * x / 2.0 - kLogSqrtTwoPi - LogNormalMass(a, b);
}

double TruncatedNormalPpf(double q, double a, double b) {
  if (q <= 0.0 || a == b) return a;
  if (q >= 1.0) return b;
  if (IsNarrow(a, b)) {
    // The density's slope over the interval is the only term that shows.
    const double slant = (a + b) / 2.0 * (b - a) / 2.0;
    return std::clamp(a + (b - a) * q * (1.0 - slant * (1.0 - q)), a, b);
  }
  const double log_mass = LogNormalMass(a, b);
  const double x =
      a < 0.0
          ? InverseLogNormalCdf(LogSum(LogNormalCdf(a), std::log(q) + log_mass))
          : -InverseLogNormalCdf(
                LogSum(LogNormalCdf(-b), std::log1p(-q) + log_mass));
  return std::clamp(x, a, b);
}

}  // namespace frostline::sampler
