// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/improvement.h"

#include <cmath>

#include "sampler/draw/truncated_normal.h"

namespace frostline::sampler {
namespace {

// ln(φ(u) + u Φ(u)).
double LogGain(double u) {
  const double log_density = -u * u / 2.0 - kLogSqrtTwoPi;
  if (u > -1.0) {
    const double below = 0.5 * std::erfc(-u / std::sqrt(2.0));
    return std::log(std::exp(log_density) + u * below);
  }
  // φ(u) / u² with the next term of the series, where the sum would cancel.
  if (u < -1e3) return log_density - 2.0 * std::log(-u) - 3.0 / (u * u);
  return log_density + std::log1p(u * std::exp(LogNormalCdf(u) - log_density));
}

}  // namespace

double LogExpectedImprovement(double mean, double deviation, double best) {
  return std::log(deviation) + LogGain((best - mean) / deviation);
}

}  // namespace frostline::sampler
