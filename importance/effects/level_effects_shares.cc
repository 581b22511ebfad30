// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/level_effects_shares.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "importance/measure/numbers.h"
#include "statistics/law.h"

namespace frostline::importance {
namespace {

constexpr int kDeviations = 32;
// The largest of them, in the targets' own.
constexpr double kWidest = 1.2;
// For wider terms (triples) the variance itself is drawn, from a normal.
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
  log_chance_ = statistics::LogChiSquaredTail(
      squares, static_cast<double>(precision_.size()));
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
    const EigenPairs eigen = SymmetricEigen(std::move(covariance), n);
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
  const EigenPairs eigen = SymmetricEigen(ridge.GramOf(term), n);
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

namespace {

constexpr int kTries = 64;

double NormalBelow(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

}  // namespace

// Residuals are smaller than noise is, by what went into the coefficients.
UnseenEffects::UnseenEffects(const LevelEffects& model) {
  double squares = 0.0;
  for (const LeftOutTerm& one : model.left_out()) {
    variance_ += one.evidence.variance;
    squares += one.evidence.deviation * one.evidence.deviation;
  }
  const double seen = model.ridge().ResidualVariance();
  const double scale = seen > 0.0 ? model.ridge().noise() / seen : 1.0;
  variance_ *= scale;
  deviation_ = std::sqrt(squares) * scale;
  most_ = model.ridge().noise();
  WeighNone();
}

void UnseenEffects::WeighNone() {
  if (!(deviation_ > 0.0) || !(most_ > 0.0)) return;
  const double at = variance_ / deviation_;
  const double spike = std::exp(-0.5 * at * at) /
                       (deviation_ * std::sqrt(2.0 * std::numbers::pi));
  const double slab =
      (NormalBelow(most_ / deviation_ - at) - NormalBelow(-at)) / most_;
  if (spike + slab > 0.0) none_ = spike / (spike + slab);
}

double UnseenEffects::Expected() const {
  return std::clamp(variance_, 0.0, most_) * (1.0 - none_);
}

double UnseenEffects::Draw(Rng& rng) const {
  if (rng.Uniform() < none_) return 0.0;
  double drawn = variance_;
  for (int i = 0; i < kTries; ++i) {
    drawn = variance_ + deviation_ * rng.Normal();
    if (drawn >= 0.0 && drawn <= most_) break;
  }
  return std::clamp(drawn, 0.0, most_);
}

namespace {

constexpr int kSpreads = 200;  // steps of the integral over the prior's width
// Before anything is seen a pair or triple is so much likelier to be nothing.
constexpr double kOddsOfNone = 4.0;

// Amplitudes with equal uncertainty, drawn together as far as they look alike.
void DrawTogether(std::vector<double>& variances, double uncertainty) {
  const double n = static_cast<double>(variances.size());
  if (variances.size() < 3 || !(uncertainty > 0.0)) return;
  double mean = 0.0;
  for (const double v : variances) mean += std::sqrt(v) / n;
  double squares = 0.0;
  for (const double v : variances) {
    squares += (std::sqrt(v) - mean) * (std::sqrt(v) - mean);
  }
  const double widest =
      3.0 * std::max(std::sqrt(squares / n), std::sqrt(uncertainty));
  const auto log_likelihood = [&](double whole) {
    return -0.5 * (n - 1.0) * std::log(whole) - 0.5 * squares / whole;
  };
  // Where the likelihood is largest: its level is taken out of the weights.
  const double top =
      log_likelihood(std::max(uncertainty, squares / std::max(n - 1.0, 1.0)));
  double weights = 0.0;
  double shrinkage = 0.0;
  for (int k = 0; k < kSpreads; ++k) {
    const double spread = widest * (k + 0.5) / kSpreads;
    const double whole = spread * spread + uncertainty;
    const double weight = std::exp(log_likelihood(whole) - top);
    weights += weight;
    shrinkage += weight * uncertainty / whole;
  }
  shrinkage /= weights;
  for (double& v : variances) {
    const double amplitude = std::sqrt(v);
    v = std::pow(amplitude - shrinkage * (amplitude - mean), 2.0);
  }
}

// From variances by term and of the rest.
EffectShares Assemble(const LevelEffects& model, std::vector<double> variances,
                      double rest) {
  EffectShares shares;
  shares.main.assign(model.axes().size(), 0.0);
  shares.total.assign(model.axes().size(), 0.0);
  shares.variance = rest;
  for (const double v : variances) shares.variance += v;
  shares.terms.assign(variances.size(), 0.0);
  if (!(shares.variance > 0.0)) return shares;
  shares.rest = rest / shares.variance;
  for (std::size_t t = 0; t < variances.size(); ++t) {
    const double share = variances[t] / shares.variance;
    const EffectTerm& term = model.terms()[t];
    shares.terms[t] = share;
    if (term.size() == 1) shares.main[term[0]] = share;
    for (const std::size_t axis : term) shares.total[axis] += share;
  }
  return shares;
}

// Draws k over a chi-squared of k degrees of freedom, by the cube-root
// transformation (Wilson and Hilferty, 1931).
double DrawInverseChiSquared(double k, Rng& rng) {
  const double spread = 2.0 / (9.0 * k);
  const double root = 1.0 - spread + std::sqrt(spread) * rng.Normal();
  return 1.0 / std::pow(std::max(root, 0.1), 3.0);
}

// Returns which part of what the model explains of its own trials it does not
// predict of trials left out.
double DoubtOf(const GroupedRidge& ridge, double left_out_r2) {
  const double explained = 1.0 - ridge.noise() / ridge.target_variance();
  if (!(explained > 0.0)) return 0.0;
  return std::clamp(1.0 - left_out_r2 / explained, 0.0, 1.0);
}

// Draws a term that was chosen as the strongest of many. It may be nothing, at
// odds of at least -e p ln p (Sellke, Bayarri and Berger, 2001, eq. 3). With
// more doubt, more of it may belong to other terms.
double DrawChosen(const EffectDraws& draws, double doubt, double noisier,
                  Rng& rng) {
  const double log_p = draws.log_chance();
  const double odds =
      kOddsOfNone * (log_p < -1.0 ? -std::exp(log_p + 1.0) * log_p : 1.0);
  if (rng.Uniform() < odds / (1.0 + odds)) return 0.0;
  const double own = 1.0 - doubt * rng.Uniform();
  return own * draws.Draw(noisier, rng);
}

}  // namespace

EffectShares SharesOf(const LevelEffects& model) {
  std::vector<double> main;
  std::vector<double> variances;
  for (std::size_t t = 0; t < model.terms().size(); ++t) {
    const double v = model.Variance(t);
    (model.terms()[t].size() == 1 ? main : variances).push_back(v);
  }
  double largest = 0.0;
  for (const double v : main) largest = std::max(largest, v);
  if (largest > 0.0) DrawTogether(main, model.AmplitudeVariance());
  variances.insert(variances.begin(), main.begin(), main.end());
  return Assemble(model, variances, UnseenEffects(model).Expected());
}

std::vector<EffectShares> DrawShares(const LevelEffects& model,
                                     double left_out_r2, int count,
                                     std::uint64_t seed,
                                     const std::stop_token& stop) {
  std::vector<EffectDraws> draws;
  draws.reserve(model.terms().size());
  for (std::size_t t = 0; t < model.terms().size(); ++t) {
    draws.emplace_back(model, t);
  }
  const UnseenEffects unseen(model);
  const GroupedRidge& ridge = model.ridge();
  const auto rows = static_cast<double>(ridge.residuals().size());
  const double left = std::max(rows - ridge.degrees_of_freedom(), 4.0);
  // What the choice of terms adds, and terms being drawn one by one: by this
  // much intervals hold known truths as often as they say (coverage_bench).
  const double wider = std::sqrt(rows / left);
  const double doubt = DoubtOf(ridge, left_out_r2);
  Rng rng(seed);
  std::vector<EffectShares> drawn;
  drawn.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count && !stop.stop_requested(); ++k) {
    // The noise, and with it all uncertainty, is itself only estimated.
    const double noisier = wider * DrawInverseChiSquared(left, rng);
    std::vector<double> variances;
    variances.reserve(draws.size());
    for (std::size_t t = 0; t < draws.size(); ++t) {
      variances.push_back(model.terms()[t].size() > 1
                              ? DrawChosen(draws[t], doubt, noisier, rng)
                              : draws[t].Draw(noisier, rng));
    }
    drawn.push_back(Assemble(model, std::move(variances), unseen.Draw(rng)));
  }
  return drawn;
}

double LogChanceOf(const LevelEffects& model, std::size_t term) {
  return EffectDraws(model, term).log_chance();
}

}  // namespace frostline::importance
