// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "statistics/law.h"
#include "statistics/law/distributions.h"

namespace frostline::statistics {
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

}  // namespace frostline::statistics
