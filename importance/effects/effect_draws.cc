// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/effect_draws.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "importance/measure/numbers.h"
#include "importance/measure/small_matrix.h"
#include "importance/measure/symmetric_eigen.h"

namespace frostline::importance {
namespace {

constexpr int kDeviations = 32;
// The largest of them, in the targets' own.
constexpr double kWidest = 1.2;
// Of wider terms (triples) the variance itself is drawn, from a normal.
constexpr std::size_t kMaxWidth = 64;
constexpr double kMostDeviations = 30.0;  // the chance of more is 0

std::vector<double> Times(const std::vector<double>& rows,
                          const std::vector<double>& vector) {
  std::vector<double> product;
  product.reserve(vector.size());
  for (std::size_t i = 0; i < vector.size(); ++i) {
    product.push_back(
        Dot(&rows[i * vector.size()], vector.data(), vector.size()));
  }
  return product;
}

}  // namespace

EffectDraws::EffectDraws(const LevelEffects& model, std::size_t term)
    : prior_(PriorOf(model.axes(), model.terms()[term])) {
  const GroupedRidge& ridge = model.ridge();
  for (std::size_t k = 0; k < prior_.size(); ++k) {
    roots_.push_back(std::sqrt(ridge.WeightAt(ridge.BeginOfGroup(term) + k)));
    prior_[k] *= roots_[k] * roots_[k];
  }
  is_even_ = std::all_of(prior_.begin(), prior_.end(), [this](double p) {
    return std::abs(p - prior_[0]) < 1e-9 * prior_[0];
  });
  if (prior_.size() > kMaxWidth) {
    FindMoments(model, term);
    return;
  }
  FindLikelihood(model, term);
  double squares = 0.0;
  double unsure = 0.0;
  for (std::size_t k = 0; k < precision_.size(); ++k) {
    if (!(precision_[k] > 0.0)) continue;
    squares += pull_[k] * pull_[k] / precision_[k];
    unsure += prior_[k] / precision_[k];
  }
  log_chance_ =
      LogChiSquaredTail(squares, static_cast<double>(precision_.size()));
  // Where cells were not tried nothing bounds an effect but the targets.
  WeighDeviations(std::min(3.0 * std::sqrt(model.Variance(term) + unsure),
                           kWidest * std::sqrt(ridge.target_variance())));
}

void EffectDraws::FindMoments(const LevelEffects& model, std::size_t term) {
  mean_ = model.Variance(term);
  if (!(mean_ > 0.0)) return;
  const std::vector<double> means = model.ridge().Coefficients(term);
  const std::vector<double> unsure = model.ridge().Uncertainty(term);
  double square = 0.0;
  for (std::size_t k = 0; k < prior_.size(); ++k) {
    const double own = unsure[k] / (roots_[k] * roots_[k]);
    square += prior_[k] * prior_[k] *
              (4.0 * means[k] * means[k] / (roots_[k] * roots_[k]) * own +
               2.0 * own * own);
  }
  deviation_ = std::sqrt(square);
  if (!(deviation_ > 0.0)) return;
  const double away = std::min(mean_ / deviation_, kMostDeviations);
  log_chance_ = std::log(0.5 * std::erfc(away / std::numbers::sqrt2));
}

void EffectDraws::FindLikelihood(const LevelEffects& model, std::size_t term) {
  const GroupedRidge& ridge = model.ridge();
  const std::size_t n = prior_.size();
  const double variance = ridge.variance(term);
  if (variance > 0.0) {
    // Divided by the roots of their weights all have one prior variance.
    std::vector<double> covariance = ridge.Covariance(term);
    std::vector<double> means = ridge.Coefficients(term);
    for (std::size_t i = 0; i < n; ++i) {
      means[i] /= roots_[i];
      for (std::size_t j = 0; j < n; ++j) {
        covariance[i * n + j] /= roots_[i] * roots_[j];
      }
    }
    const Eigen eigen = SymmetricEigen(std::move(covariance), n);
    directions_ = eigen.vectors;
    pull_ = Times(directions_, means);
    for (std::size_t k = 0; k < n; ++k) {
      const double left = std::max(eigen.values[k], 1e-12 * variance);
      precision_.push_back(std::max(1.0 / left - 1.0 / variance, 0.0));
      pull_[k] /= left;
    }
    return;
  }
  // Not in the model: the residuals are what its coefficients would explain,
  // but for the part that other terms have taken.
  const double rows = static_cast<double>(ridge.residuals().size());
  const double kept =
      std::max(1.0 - ridge.degrees_of_freedom() / rows, 1.0 / rows);
  const Eigen eigen = SymmetricEigen(ridge.GramOf(term), n);
  directions_ = eigen.vectors;
  pull_ = Times(directions_, ridge.ResidualProducts(term));
  for (std::size_t k = 0; k < n; ++k) {
    const bool seen = eigen.values[k] > 1e-9 && ridge.noise() > 0.0;
    precision_.push_back(seen ? eigen.values[k] * kept / ridge.noise() : 0.0);
    pull_[k] = seen ? pull_[k] / ridge.noise() : 0.0;
  }
}

void EffectDraws::WeighDeviations(double widest) {
  double highest = -1e300;
  std::vector<double> logs;
  for (int i = 0; i < kDeviations; ++i) {
    const double deviation = widest * (i + 0.5) / kDeviations;
    variances_.push_back(deviation * deviation);
    double log = 0.0;
    for (std::size_t k = 0; k < precision_.size(); ++k) {
      const double known = 1.0 + variances_.back() * precision_[k];
      log += 0.5 * pull_[k] * pull_[k] * variances_.back() / known -
             0.5 * std::log(known);
    }
    logs.push_back(log);
    highest = std::max(highest, log);
  }
  double sum = 0.0;
  for (const double log : logs) {
    sum += std::exp(log - highest);
    cumulative_.push_back(sum);
  }
}

double EffectDraws::Draw(double noisier, Rng& rng) const {
  if (prior_.size() > kMaxWidth) {
    return std::max(0.0,
                    mean_ + std::sqrt(noisier) * deviation_ * rng.Normal());
  }
  const auto at = std::upper_bound(cumulative_.begin(), cumulative_.end(),
                                   rng.Uniform() * cumulative_.back());
  const std::size_t i =
      std::min(static_cast<std::size_t>(at - cumulative_.begin()),
               variances_.size() - 1);
  const std::size_t n = prior_.size();
  std::vector<double> coefficients(n, 0.0);
  double squares = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    const double left = variances_[i] / (1.0 + variances_[i] * precision_[k]);
    const double value =
        left * pull_[k] + std::sqrt(left * noisier) * rng.Normal();
    squares += value * value;
    // Where all functions have one prior variance their sum of squares is the
    // same in every direction.
    if (is_even_) continue;
    for (std::size_t j = 0; j < n; ++j) {
      coefficients[j] += value * directions_[k * n + j];
    }
  }
  if (is_even_) return prior_[0] * squares;
  double variance = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    variance += prior_[j] * coefficients[j] * coefficients[j];
  }
  return variance;
}

}  // namespace frostline::importance
