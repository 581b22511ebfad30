// SPDX-License-Identifier: Apache-2.0
//
// File: level_effects_shares.h
//
// The shares of a model of level effects in the variance that can be explained,
// and draws of them from what the trials leave possible.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_

#include <cstdint>
#include <vector>

#include "importance/effects/level_effects.h"

namespace frostline::importance {

struct EffectShares {
  std::vector<double> main;   // by axis
  std::vector<double> total;  // by axis
  std::vector<double> terms;  // by term of the model, main effects first
  // What residuals that are alike in the same cells show of terms that did not
  // enter the model, together.
  double rest = 0.0;
  double variance = 0.0;  // the explained variance itself; 0: all shares are 0
};

// Main effects are drawn together by their amplitudes (the roots of the
// variances), as far as their differences are no larger than chance makes them:
// a normal prior whose mean and deviation are taken from the amplitudes.
EffectShares SharesOf(const LevelEffects& model);

// `count` draws. The variance of an effect is drawn with the effect, so that
// one that was estimated as 0 need not be 0 in every draw. `left_out_r2`: as
// the model's ridge has it.
std::vector<EffectShares> DrawShares(const LevelEffects& model,
                                     double left_out_r2, int count,
                                     std::uint64_t seed);

// ln of the chance that a main effect as large comes from nothing.
double LogChanceOf(const LevelEffects& model, std::size_t term);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_
