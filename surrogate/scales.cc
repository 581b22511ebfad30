// SPDX-License-Identifier: Apache-2.0
#include "surrogate/scales.h"

#include <cmath>

namespace frostline::surrogate {

ScalePrior UsualScales(std::size_t axes, std::size_t pairs,
                       const Usual& usual) {
  ScalePrior prior;
  prior.mean.resize(ScaleCount(axes, pairs));
  prior.deviation.resize(ScaleCount(axes, pairs));
  const auto set = [&prior](Index at, double mean, double deviation) {
    prior.mean[at] = mean;
    prior.deviation[at] = deviation;
  };
  const double n = static_cast<double>(axes);
  set(kNoise, std::log(usual.noise), 1.5);
  set(kLength, std::log(usual.length), usual.length_deviation);
  set(kGap, 0.0, 0.8);
  set(kTriples, std::log(0.5), 1.0);
  for (std::size_t a = 0; a < axes; ++a) {
    set(MainScale(a), std::log(usual.main / n), usual.main_deviation);
    set(JointScale(a, axes), std::log(usual.joint / n), 1.2);
  }
  for (std::size_t p = 0; p < pairs; ++p) set(PairScale(p, axes), 0.0, 1.5);
  return prior;
}

}  // namespace frostline::surrogate
