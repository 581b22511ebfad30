// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/kernel_fit.h"

#include <algorithm>
#include <cmath>

#include "sampler/gp/kernel_evidence.h"

namespace frostline {

KernelPrior UsualKernel(std::size_t axes) {
  KernelPrior prior;
  const auto add = [&prior](double mean, double deviation) {
    prior.mean.push_back(mean);
    prior.deviation.push_back(deviation);
  };
  add(std::log(0.05), 1.5);  // noise
  add(std::log(0.7), 1.0);   // additive
  add(std::log(0.3), 1.0);   // joint
  add(std::log(2.0), 0.7);   // strength
  add(std::log(3.0), 0.5);   // length
  add(0.5, 1.0);             // frozen tie
  add(0.0, 1.5);             // study tie
  for (std::size_t d = 0; d < axes; ++d) add(0.0, 1.0);
  for (std::size_t d = 0; d < axes; ++d) add(0.0, 0.3);
  return prior;
}

double LogPosterior(const std::vector<LevelAxis>& axes, const KernelRows& rows,
                    std::span<const double> targets, const KernelPrior& prior,
                    const KernelParameters& parameters,
                    KernelParameters& gradient) {
  KernelEvidence evidence(axes, rows, targets, parameters);
  gradient = evidence.Gradient();
  double value = evidence.value();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (prior.deviation[p] == 0.0) {
      gradient[p] = 0.0;
      continue;
    }
    const double off = (parameters[p] - prior.mean[p]) / prior.deviation[p];
    value -= 0.5 * off * off;
    gradient[p] -= off / prior.deviation[p];
  }
  return value;
}

KernelParameters FitKernel(const std::vector<LevelAxis>& axes,
                           const KernelRows& rows,
                           std::span<const double> targets,
                           const KernelPrior& prior, int steps) {
  KernelParameters at = prior.mean, best = at;
  KernelParameters gradient, before = at, stride = at;
  std::fill(before.begin(), before.end(), 0.0);
  std::fill(stride.begin(), stride.end(), 0.3);
  double best_value = 0.0;
  for (int step = 0; step <= steps; ++step) {
    const double value = LogPosterior(axes, rows, targets, prior, at, gradient);
    if (step == 0 || value > best_value) {
      best_value = value;
      best = at;
    }
    for (std::size_t p = 0; p < at.size(); ++p) {
      const double agreement = gradient[p] * before[p];
      if (agreement > 0.0) stride[p] = std::min(stride[p] * 1.3, 1.0);
      if (agreement < 0.0) {
        stride[p] *= 0.5;
        gradient[p] = 0.0;  // the next step decides anew
      }
      if (gradient[p] > 0.0) at[p] += stride[p];
      if (gradient[p] < 0.0) at[p] -= stride[p];
      // Beyond 4 deviations nothing is learnt, only precision lost.
      const double reach = 4.0 * prior.deviation[p];
      at[p] = std::clamp(at[p], prior.mean[p] - reach, prior.mean[p] + reach);
    }
    before = gradient;
  }
  return best;
}

}  // namespace frostline
