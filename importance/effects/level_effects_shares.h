// SPDX-License-Identifier: Apache-2.0
//
// File: level_effects_shares.h
//
// The shares of level effects in their variance, and draws of them. A draw
// takes a prior's deviation by how likely the trials make it (a flat law before
// any), then coefficients b under that prior and the trials' normal likelihood:
//
//   variance of a term = |b|^2,   share = its part of all terms' variances
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_

#include <cstdint>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "importance/effects/level_effects.h"

namespace frostline::importance {

// Draws of the variance of one term.
class EffectDraws {
 public:
  EffectDraws(const LevelEffects& model, std::size_t term);

  // Takes `noisier` times the noise variance.
  double Draw(double noisier, Rng& rng) const;
  // Returns ln of the chance that nothing gives such coefficients.
  double log_chance() const { return log_chance_; }

 private:
  void FindLikelihood(const LevelEffects& model, std::size_t term);
  void FindMoments(const LevelEffects& model, std::size_t term);
  void WeighDeviations(double widest);

  std::vector<double> prior_;  // variances of the functions
  std::vector<double> roots_;  // of the weights that are in them
  // These are in directions of independent likelihood: precision, precision
  // times mean, and the directions by rows.
  std::vector<double> precision_;
  std::vector<double> pull_;
  std::vector<double> directions_;
  std::vector<double> variances_;   // of the prior
  std::vector<double> cumulative_;  // their chances, summed
  double log_chance_ = 0.0;
  bool is_even_ = false;  // all of prior_ are the same
  double mean_ = 0.0;     // of the variance of a wide term
  double deviation_ = 0.0;
};

// All terms that did not enter, together. Residuals that agree in the same
// cells show something of them.
class UnseenEffects {
 public:
  explicit UnseenEffects(const LevelEffects& model);

  // Returns at most what looks like noise.
  double Expected() const;
  double Draw(Rng& rng) const;

 private:
  void WeighNone();

  double variance_ = 0.0;  // also below 0
  double deviation_ = 0.0;
  double most_ = 0.0;
  double none_ = 1.0;  // chance of none, from even odds
};

// The shares of level effects, or of one draw of them.
struct EffectShares {
  std::vector<double> main;   // by axis
  std::vector<double> total;  // by axis
  std::vector<double> terms;  // main effects first
  // Estimates terms that did not enter, by residuals alike in the same cells.
  double rest = 0.0;
  double variance = 0.0;  // explained; 0: so are shares
};

// Shrinks main effects' amplitudes (roots of variances) towards each other, as
// far as chance explains differences, by a normal prior of their mean and
// deviation.
EffectShares SharesOf(const LevelEffects& model);

// Draws variances too, so one estimated as 0 need not stay 0. `left_out_r2` is
// the ridge's. After a stop there are fewer draws.
std::vector<EffectShares> DrawShares(const LevelEffects& model,
                                     double left_out_r2, int count,
                                     std::uint64_t seed,
                                     const std::stop_token& stop = {});

// Returns ln of the chance that nothing gives so large a main effect.
double LogChanceOf(const LevelEffects& model, std::size_t term);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_
