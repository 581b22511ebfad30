// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/level_effects_shares.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "importance/effects/effect_draws.h"
#include "importance/statistics.h"

namespace frostline {
namespace {

constexpr int kSpreads = 200;  // steps of the integral over the prior's width
constexpr int kTries = 64;

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

// Unexplained by the model, but not by chance either.
struct Rest {
  double variance = 0.0;   // as the residuals have it, also below 0
  double deviation = 0.0;  // of that
  double most = 0.0;       // no more than what looks like noise
  // Chance that there is none, if that was as likely as not before.
  double none = 1.0;
};

double NormalBelow(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

void WeighNone(Rest& rest) {
  if (!(rest.deviation > 0.0) || !(rest.most > 0.0)) return;
  const double at = rest.variance / rest.deviation;
  const double spike = std::exp(-0.5 * at * at) /
                       (rest.deviation * std::sqrt(2.0 * std::numbers::pi));
  const double slab =
      (NormalBelow(rest.most / rest.deviation - at) - NormalBelow(-at)) /
      rest.most;
  if (spike + slab > 0.0) rest.none = spike / (spike + slab);
}

double DrawRest(const Rest& rest, Rng& rng) {
  if (rng.Uniform() < rest.none) return 0.0;
  double drawn = rest.variance;
  for (int i = 0; i < kTries; ++i) {
    drawn = rest.variance + rest.deviation * rng.Normal();
    if (drawn >= 0.0 && drawn <= rest.most) break;
  }
  return std::clamp(drawn, 0.0, rest.most);
}

// Residuals are smaller than noise is, by what went into the coefficients.
Rest FindRest(const LevelEffects& model) {
  Rest rest;
  double squares = 0.0;
  for (const LeftOutTerm& one : model.left_out()) {
    rest.variance += one.evidence.variance;
    squares += one.evidence.deviation * one.evidence.deviation;
  }
  const std::vector<double>& residuals = model.ridge().residuals();
  double mean_square = 0.0;
  for (const double r : residuals) mean_square += r * r;
  mean_square /= static_cast<double>(residuals.size());
  const double scale =
      mean_square > 0.0 ? model.ridge().noise() / mean_square : 1.0;
  rest.variance *= scale;
  rest.deviation = std::sqrt(squares) * scale;
  rest.most = model.ridge().noise();
  WeighNone(rest);
  return rest;
}

// k over a chi-squared of k degrees of freedom, by the cube-root
// transformation (Wilson and Hilferty, 1931).
double DrawInverseChiSquared(double k, Rng& rng) {
  const double spread = 2.0 / (9.0 * k);
  const double root = 1.0 - spread + std::sqrt(spread) * rng.Normal();
  return 1.0 / std::pow(std::max(root, 0.1), 3.0);
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
  const Rest rest = FindRest(model);
  const double seen = std::clamp(rest.variance, 0.0, rest.most);
  return Assemble(model, variances, seen * (1.0 - rest.none));
}

std::vector<EffectShares> DrawShares(const LevelEffects& model, int count,
                                     std::uint64_t seed) {
  std::vector<EffectDraws> draws;
  for (std::size_t t = 0; t < model.terms().size(); ++t) {
    draws.emplace_back(model, t);
  }
  const Rest rest = FindRest(model);
  const double left =
      std::max(static_cast<double>(model.ridge().residuals().size()) -
                   model.ridge().degrees_of_freedom(),
               4.0);
  // What the choice of terms adds, and terms being drawn one by one: by this
  // much intervals hold known truths as often as they say (truth_bench).
  const double rows = static_cast<double>(model.ridge().residuals().size());
  const double wider = std::sqrt(rows / left);
  Rng rng(seed);
  std::vector<EffectShares> drawn;
  for (int k = 0; k < count; ++k) {
    // The noise, and with it all uncertainty, is itself only estimated.
    const double noisier = wider * DrawInverseChiSquared(left, rng);
    std::vector<double> variances;
    for (const EffectDraws& one : draws) {
      variances.push_back(one.Draw(noisier, rng));
    }
    drawn.push_back(Assemble(model, std::move(variances), DrawRest(rest, rng)));
  }
  return drawn;
}

double LogChanceOf(const LevelEffects& model, std::size_t term) {
  return EffectDraws(model, term).log_chance();
}

}  // namespace frostline
