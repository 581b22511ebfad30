// SPDX-License-Identifier: Apache-2.0
//
// What is asked of a fitted ridge, group by group.
#include <algorithm>
#include <cmath>

#include "importance/effects/grouped_ridge.h"
#include "importance/measure/small_matrix.h"

namespace frostline::importance {

std::vector<double> GroupedRidge::Coefficients(std::size_t group) const {
  std::vector<double> mean;
  for (std::size_t a = 0; a < live_.size(); ++a) {
    if (live_[a] >= begins_[group] && live_[a] < begins_[group + 1]) {
      mean.push_back(scaled_[a] * std::sqrt(live_variance_[a]));
    }
  }
  return mean;
}

std::size_t GroupedRidge::LiveBegin(std::size_t group) const {
  return static_cast<std::size_t>(
      std::lower_bound(live_.begin(), live_.end(), begins_[group]) -
      live_.begin());
}

std::vector<double> GroupedRidge::Uncertainty(std::size_t group) const {
  const std::size_t n = live_.size();
  const std::size_t begin = LiveBegin(group);
  std::vector<double> variances(WidthOfGroup(group), 0.0);
  for (std::size_t row = begin; row < n; ++row) {
    const double* const factors = &factor_[row * n + begin];
    for (std::size_t i = 0; i < variances.size(); ++i) {
      variances[i] += factors[i] * factors[i];
    }
  }
  for (std::size_t i = 0; i < variances.size(); ++i) {
    variances[i] *= live_variance_[begin + i];
  }
  return variances;
}

double GroupedRidge::ExpectedSquares(std::size_t group,
                                     const std::vector<double>& weights) const {
  if (!(variances_[group] > 0.0)) return 0.0;
  const std::vector<double> mean = Coefficients(group);
  const std::vector<double> unsure = Uncertainty(group);
  double squares = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    squares += weights[k] * (mean[k] * mean[k] + unsure[k]);
  }
  return squares;
}

double GroupedRidge::ResidualVariance() const {
  return Dot(residuals_.data(), residuals_.data(), rows_) /
         static_cast<double>(rows_);
}

std::vector<double> GroupedRidge::Covariance(std::size_t group) const {
  const std::size_t n = live_.size();
  const std::size_t width = WidthOfGroup(group);
  const std::size_t begin = LiveBegin(group);
  std::vector<double> covariance(width * width, 0.0);
  for (std::size_t row = begin; row < n; ++row) {
    const double* const factors = &factor_[row * n + begin];
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t j = 0; j < width; ++j) {
        covariance[i * width + j] += factors[i] * factors[j];
      }
    }
  }
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      covariance[i * width + j] *=
          std::sqrt(live_variance_[begin + i] * live_variance_[begin + j]);
    }
  }
  return covariance;
}

std::vector<double> GroupedRidge::GramOf(std::size_t group) const {
  const std::size_t width = WidthOfGroup(group);
  const std::size_t begin = begins_[group];
  std::vector<double> gram(width * width);
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      gram[i * width + j] = gram_[begin + i][begin + j];
      gram[j * width + i] = gram[i * width + j];
    }
  }
  return gram;
}

std::vector<double> GroupedRidge::ResidualProducts(std::size_t group) const {
  std::vector<double> products;
  for (std::size_t i = begins_[group]; i < begins_[group + 1]; ++i) {
    products.push_back(Dot(Column(i), residuals_.data(), rows_));
  }
  return products;
}

}  // namespace frostline::importance
