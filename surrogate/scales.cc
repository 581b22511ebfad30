// SPDX-License-Identifier: Apache-2.0
#include "surrogate/scales.h"

#include <cmath>

namespace frostline::surrogate {

ScalePrior UsualScales(std::size_t axes, std::size_t pairs) {
  ScalePrior prior;
  prior.mean.resize(ScaleCount(axes, pairs));
  prior.deviation.resize(ScaleCount(axes, pairs));
  const auto set = [&prior](Index at, double mean, double deviation) {
    prior.mean[at] = mean;
    prior.deviation[at] = deviation;
  };
  const double n = static_cast<double>(axes);
  set(kNoise, std::log(0.25), 1.5);
  set(kLength, std::log(3.0), 0.8);
  set(kGap, 0.0, 0.8);
  set(kTriples, std::log(0.5), 1.0);
  for (std::size_t a = 0; a < axes; ++a) {
    set(MainScale(a), std::log(0.4 / n), 2.0);
    // So that all pairs together have half of the variance.
    set(JointScale(a, axes), std::log(1.0 / n), 1.2);
  }
  for (std::size_t p = 0; p < pairs; ++p) set(PairScale(p, axes), 0.0, 1.5);
  return prior;
}

}  // namespace frostline::surrogate
