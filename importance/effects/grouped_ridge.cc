// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/grouped_ridge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "importance/measure/numbers.h"

namespace frostline::importance {
namespace {

// Both are parts of the targets' variance. A group below the first is nothing.
// Noise is never below the second, so exact data leave something to divide by.
constexpr double kNoVariance = 1e-8;
constexpr double kLeastNoise = 1e-10;
constexpr double kSettled = 1e-5;
constexpr double kSlowest = 0.9;  // steps are taken to shrink so much at least
// Coefficients that use up the trials explain all of them and see no noise. If
// they take more than this part of the trials, up to kPriorTrials more are
// imagined, and kPriorNoise of their variance is noise.
constexpr double kUsedUp = 0.5;
constexpr double kPriorTrials = 4.0;
constexpr double kPriorNoise = 0.1;

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
  std::vector<double> products((end - first) * end);
  RowProducts(Column(first), end - first, Column(0), end, rows_,
              products.data());
  for (std::size_t i = first; i < end; ++i) {
    const auto row =
        products.begin() + static_cast<std::ptrdiff_t>((i - first) * end);
    gram_.emplace_back(row, row + static_cast<std::ptrdiff_t>(i + 1));
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
  std::vector<double> roots(n);
  for (std::size_t a = 0; a < n; ++a) {
    const std::vector<double>& row = gram_[live_[a]];
    roots[a] = std::sqrt(live_variance_[a]);
    for (std::size_t b = 0; b <= a; ++b) {
      precision[a * n + b] = row[live_[b]] / noise_ * (roots[a] * roots[b]);
    }
    precision[a * n + a] += 1.0;
    right[a] = products_[live_[a]] / noise_ * roots[a];
  }
  factor_ = InverseFactor(precision, n);
  scaled_.assign(n, 0.0);
  for (std::size_t a = 0; a < n; ++a) {
    const double half = Dot(&factor_[a * n], right.data(), a + 1);
    for (std::size_t b = 0; b <= a; ++b) {
      scaled_[b] += factor_[a * n + b] * half;
    }
  }
  // From the normal equations alone, without the trials.
  const double explained = Dot(scaled_.data(), right.data(), n) +
                           Dot(scaled_.data(), scaled_.data(), n);
  const double whole = target_variance_ * static_cast<double>(rows_);
  return std::max(whole - noise_ * explained, 0.0);
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
  const double used = freedom_ / static_cast<double>(rows_);
  const double prior =
      kPriorTrials * std::clamp((used - kUsedUp) / (1.0 - kUsedUp), 0.0, 1.0);
  const double noise = std::max(
      (squares + prior * kPriorNoise * target_variance_) / (left + prior),
      kLeastNoise * target_variance_);
  moved = std::max(moved, std::abs(noise - noise_));
  noise_ = noise;
  return moved;
}

// Jumps to where the logarithm of each variance is heading, if its steps go on
// to shrink as the last two did (Aitken, 1926). No variance becomes 0, since no
// step leads back from there.
void GroupedRidge::Extrapolate(const std::vector<double>& before,
                               const std::vector<double>& between) {
  for (std::size_t g = 0; g < groups(); ++g) {
    if (!(variances_[g] > 0.0) || between[g] == before[g]) continue;
    const double first = std::log(between[g] / before[g]);
    const double second = std::log(variances_[g] / between[g]);
    const double shrinks = std::clamp(second / first, 0.0, kSlowest);
    variances_[g] =
        std::max(variances_[g] * std::exp(second * shrinks / (1.0 - shrinks)),
                 kNoVariance * target_variance_);
  }
}

void GroupedRidge::Fit(int iterations, const std::stop_token& stop) {
  if (!(target_variance_ > 0.0)) return;
  std::vector<double> before;
  std::vector<double> between;
  for (int i = 0; i < iterations && !stop.stop_requested(); ++i) {
    before = std::move(between);
    between = variances_;
    if (Improve(Solve()) < kSettled * target_variance_) break;
    if (i % 2 == 1) Extrapolate(before, between);
  }
  Solve();
  FindResiduals();
}

// What is asked of a fitted ridge, group by group.

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

namespace {

// Multiplications that leaving trials out may cost; more trials are thinned.
constexpr double kLeftOutWork = 1e8;

}  // namespace

std::vector<double> GroupedRidge::LeftOutResiduals() const {
  const std::size_t n = live_.size();
  const double work = static_cast<double>(rows_) * static_cast<double>(n * n);
  const auto stride =
      static_cast<std::size_t>(std::ceil(std::max(work, 1.0) / kLeftOutWork));
  const double average = freedom_ / static_cast<double>(rows_);
  std::vector<double> left(residuals_);
  std::vector<double> at(n);
  for (std::size_t row = 0; row < rows_; ++row) {
    double leverage = average;
    if (row % stride == 0) {
      leverage = 1.0 / static_cast<double>(rows_);
      for (std::size_t a = 0; a < n; ++a) {
        at[a] = Column(live_[a])[row] * std::sqrt(live_variance_[a] / noise_);
      }
      for (std::size_t a = 0; a < n; ++a) {
        const double part = Dot(&factor_[a * n], at.data(), a + 1);
        leverage += part * part;
      }
    }
    left[row] /= std::max(1.0 - leverage, 1e-9);
  }
  return left;
}

double GroupedRidge::R2Of(const std::vector<double>& left_out) const {
  if (!(target_variance_ > 0.0) || rows_ < 2) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double others = 1.0 - 1.0 / static_cast<double>(rows_);
  double missed = 0.0;
  for (const double error : left_out) missed += error * error;
  const double whole = Dot(targets_.data(), targets_.data(), rows_);
  return 1.0 - missed * others * others / whole;
}

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
