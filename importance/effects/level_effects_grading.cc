// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "importance/effects/level_effects.h"

namespace frostline::importance {
namespace {

// What of a main effect's prior variance may be graded.
constexpr std::array kGradedParts = {0.0, 0.5, 0.8, 0.95};
constexpr int kGradedSteps = 24;

// Twice the logarithm of the likelihood of coefficients with these prior
// variances, but for a constant.
double LogLikelihood(const std::vector<double>& precision,
                     const std::vector<double>& pull,
                     const std::vector<double>& weights, double variance) {
  double log = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double own = variance * weights[k];
    const double known = 1.0 + own * precision[k];
    log += pull[k] * pull[k] * own / known - std::log(known);
  }
  return log;
}

}  // namespace

// Chooses, for each main effect, how much of its prior variance is graded: what
// makes the likelihood largest. Functions are taken for uncorrelated here.
void LevelEffects::ChooseGrading() {
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const std::vector<double>& graded = axes_[terms_[t][0]].graded;
    const double variance = ridge_.variance(t);
    if (terms_[t].size() > 1 || graded.empty() || !(variance > 0.0)) continue;
    const std::vector<double> mean = ridge_.Coefficients(t);
    const std::vector<double> unsure = ridge_.Uncertainty(t);
    const std::size_t n = graded.size();
    std::vector<double> precision(n), pull(n), best(n, 1.0);
    for (std::size_t k = 0; k < n; ++k) {
      const double left = unsure[k];
      const double prior = ridge_.PriorVariance(ridge_.BeginOfGroup(t) + k, t);
      precision[k] = std::max(1.0 / left - 1.0 / prior, 0.0);
      pull[k] = mean[k] / left;
    }
    double highest = -1e300;
    for (const double part : kGradedParts) {
      std::vector<double> weights;
      weights.reserve(graded.size());
      for (const double g : graded) weights.push_back(1.0 - part + part * g);
      for (int step = 0; step < kGradedSteps; ++step) {
        const double log = LogLikelihood(
            precision, pull, weights,
            variance * std::pow(2.0, 0.5 * step - 0.25 * kGradedSteps));
        if (log <= highest) continue;
        highest = log;
        best = weights;
      }
    }
    ridge_.SetWeights(t, best);
  }
}

}  // namespace frostline::importance
