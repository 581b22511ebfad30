// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/grouped_ridge.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "importance/effects/small_matrix.h"

namespace frostline {
namespace {

// Parts of the targets' variance: below the first a group is nothing; noise is
// never less than the second, so that exact data leave something to divide by.
constexpr double kNoVariance = 1e-8;
constexpr double kLeastNoise = 1e-10;
constexpr double kSettled = 1e-5;

}  // namespace

GroupedRidge::GroupedRidge(std::vector<double> targets)
    : rows_(targets.size()), targets_(std::move(targets)) {
  double mean = 0.0;
  for (const double target : targets_) mean += target;
  mean /= static_cast<double>(rows_);
  for (double& target : targets_) target -= mean;
  residuals_ = targets_;
  target_variance_ =
      Dot(targets_.data(), targets_.data(), rows_) / static_cast<double>(rows_);
  noise_ = 0.3 * target_variance_;
}

void GroupedRidge::AddGroup(std::vector<double> columns) {
  const std::size_t first = gram_.size();
  values_.insert(values_.end(), columns.begin(), columns.end());
  const std::size_t end = values_.size() / rows_;
  for (std::size_t i = first; i < end; ++i) {
    std::vector<double> row(i + 1);
    for (std::size_t j = 0; j <= i; ++j) {
      row[j] = Dot(Column(i), Column(j), rows_);
    }
    gram_.push_back(std::move(row));
    products_.push_back(Dot(Column(i), targets_.data(), rows_));
  }
  weights_.resize(end, 1.0);
  begins_.push_back(end);
  variances_.push_back(0.1 * target_variance_);
}

void GroupedRidge::SetWeights(std::size_t group,
                              const std::vector<double>& weights) {
  std::copy(weights.begin(), weights.end(),
            weights_.begin() + static_cast<std::ptrdiff_t>(begins_[group]));
}

double GroupedRidge::Solve() {
  live_.clear();
  live_variance_.clear();
  for (std::size_t g = 0; g < groups(); ++g) {
    if (variances_[g] <= 0.0) continue;
    for (std::size_t i = begins_[g]; i < begins_[g + 1]; ++i) {
      live_.push_back(i);
      live_variance_.push_back(PriorVariance(i, g));
    }
  }
  const std::size_t n = live_.size();
  std::vector<double> precision(n * n, 0.0);
  std::vector<double> right(n);
  for (std::size_t a = 0; a < n; ++a) {
    const std::vector<double>& row = gram_[live_[a]];
    for (std::size_t b = 0; b <= a; ++b) {
      precision[a * n + b] = row[live_[b]] / noise_ *
                             std::sqrt(live_variance_[a] * live_variance_[b]);
    }
    precision[a * n + a] += 1.0;
    right[a] = products_[live_[a]] / noise_ * std::sqrt(live_variance_[a]);
  }
  factor_ = InverseFactor(std::move(precision), n);
  scaled_.assign(n, 0.0);
  for (std::size_t a = 0; a < n; ++a) {
    const double half = Dot(&factor_[a * n], right.data(), a + 1);
    for (std::size_t b = 0; b <= a; ++b) {
      scaled_[b] += factor_[a * n + b] * half;
    }
  }
  FindResiduals();
  return Dot(residuals_.data(), residuals_.data(), rows_);
}

void GroupedRidge::FindResiduals() {
  residuals_ = targets_;
  for (std::size_t a = 0; a < live_.size(); ++a) {
    const double coefficient = scaled_[a] * std::sqrt(live_variance_[a]);
    const double* const column = Column(live_[a]);
    for (std::size_t row = 0; row < rows_; ++row) {
      residuals_[row] -= coefficient * column[row];
    }
  }
}

double GroupedRidge::Improve(double squares) {
  const std::size_t n = live_.size();
  std::vector<double> unknown(n, 0.0);  // diagonal of the scaled covariance
  for (std::size_t a = 0; a < n; ++a) {
    const double* const row = &factor_[a * n];
    for (std::size_t b = 0; b <= a; ++b) unknown[b] += row[b] * row[b];
  }
  double moved = 0.0;
  freedom_ = 1.0;
  std::size_t a = 0;
  for (std::size_t g = 0; g < groups(); ++g) {
    if (variances_[g] <= 0.0) continue;
    double known = 0.0;
    double size = 0.0;
    for (std::size_t i = begins_[g]; i < begins_[g + 1]; ++i, ++a) {
      known += 1.0 - unknown[a];
      size += scaled_[a] * scaled_[a];
    }
    freedom_ += known;
    double better = known > 0.0 ? variances_[g] * size / known : 0.0;
    if (better < kNoVariance * target_variance_) better = 0.0;
    moved = std::max(moved, std::abs(better - variances_[g]));
    variances_[g] = better;
  }
  const double left = std::max(1.0, static_cast<double>(rows_) - freedom_);
  const double noise = std::max(squares / left, kLeastNoise * target_variance_);
  moved = std::max(moved, std::abs(noise - noise_));
  noise_ = noise;
  return moved;
}

void GroupedRidge::Fit(int iterations) {
  if (!(target_variance_ > 0.0)) return;
  for (int i = 0; i < iterations; ++i) {
    if (Improve(Solve()) < kSettled * target_variance_) break;
  }
  Solve();
}

std::vector<double> GroupedRidge::Coefficients(std::size_t group) const {
  std::vector<double> mean;
  for (std::size_t a = 0; a < live_.size(); ++a) {
    if (live_[a] >= begins_[group] && live_[a] < begins_[group + 1]) {
      mean.push_back(scaled_[a] * std::sqrt(live_variance_[a]));
    }
  }
  return mean;
}

std::vector<double> GroupedRidge::Covariance(std::size_t group) const {
  const std::size_t n = live_.size();
  const std::size_t width = WidthOfGroup(group);
  const auto begin = static_cast<std::size_t>(
      std::lower_bound(live_.begin(), live_.end(), begins_[group]) -
      live_.begin());
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

}  // namespace frostline
