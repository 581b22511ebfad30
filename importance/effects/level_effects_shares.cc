// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/level_effects_shares.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "importance/effects/effect_draws.h"
#include "importance/effects/unseen_effects.h"
#include "importance/measure/numbers.h"

namespace frostline::importance {
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

// k over a chi-squared of k degrees of freedom, by the cube-root
// transformation (Wilson and Hilferty, 1931).
double DrawInverseChiSquared(double k, Rng& rng) {
  const double spread = 2.0 / (9.0 * k);
  const double root = 1.0 - spread + std::sqrt(spread) * rng.Normal();
  return 1.0 / std::pow(std::max(root, 0.1), 3.0);
}

// What the model explains of its own trials and does not predict of others, in
// parts of what it explains.
double DoubtOf(const GroupedRidge& ridge, double left_out_r2) {
  const double explained = 1.0 - ridge.noise() / ridge.target_variance();
  if (!(explained > 0.0)) return 0.0;
  return std::clamp(1.0 - left_out_r2 / explained, 0.0, 1.0);
}

// Of a term that was chosen as the strongest of many. It may be nothing: the
// odds of that are at least -e p ln p (Sellke, Bayarri and Berger, 2001, eq.
// 3); and the more doubt there is, the more of it may belong to others.
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
