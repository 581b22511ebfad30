// SPDX-License-Identifier: Apache-2.0
//
// File: effect_draws.h
//
// What the trials say of a term's coefficients without the prior is a normal
// likelihood; the prior's deviation is drawn too, from a flat one.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_EFFECT_DRAWS_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_EFFECT_DRAWS_H_

#include <vector>

#include "base/rng.h"
#include "importance/effects/level_effects.h"

namespace frostline::importance {

class EffectDraws {
 public:
  EffectDraws(const LevelEffects& model, std::size_t term);

  // Takes `noisier` times the noise variance.
  double Draw(double noisier, Rng& rng) const;
  // Is ln of the chance that nothing gives such coefficients.
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

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_EFFECT_DRAWS_H_
