// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/ridge_posterior.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "importance/measure/small_matrix.h"

namespace frostline::importance {

RidgePosterior::RidgePosterior(const GroupedRidge& ridge,
                               double least_variance) {
  const std::size_t n = ridge.columns();
  const bool is_noisy = ridge.noise() > 0.0;
  const double noise = is_noisy ? ridge.noise() : 1.0;
  for (std::size_t g = 0; g < ridge.groups(); ++g) {
    const double variance = std::max(ridge.variance(g), least_variance);
    for (std::size_t k = 0; k < ridge.WidthOfGroup(g); ++k) {
      const double weight = ridge.WeightAt(ridge.BeginOfGroup(g) + k);
      roots_.push_back(is_noisy ? std::sqrt(variance * weight) : 0.0);
    }
  }
  std::vector<double> precision(n * n, 0.0);
  std::vector<double> right(n);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      precision[a * n + b] = ridge.GramAt(a, b) / noise * roots_[a] * roots_[b];
    }
    precision[a * n + a] += 1.0;
    right[a] = ridge.ProductAt(a) / noise * roots_[a];
  }
  factor_ = InverseFactor(precision, n);
  coefficients_.assign(n, 0.0);
  for (std::size_t a = 0; a < n; ++a) {
    const double half = Dot(&factor_[a * n], right.data(), a + 1);
    for (std::size_t b = 0; b <= a; ++b) {
      coefficients_[b] += factor_[a * n + b] * half * roots_[b];
    }
  }
}

double RidgePosterior::Mean(const std::vector<double>& weights) const {
  return Dot(weights.data(), coefficients_.data(), weights.size());
}

double RidgePosterior::Variance(const std::vector<double>& weights) const {
  const std::size_t n = weights.size();
  std::vector<double> scaled(n);
  for (std::size_t a = 0; a < n; ++a) scaled[a] = weights[a] * roots_[a];
  double variance = 0.0;
  for (std::size_t a = 0; a < n; ++a) {
    const double part = Dot(&factor_[a * n], scaled.data(), a + 1);
    variance += part * part;
  }
  return variance;
}

}  // namespace frostline::importance
