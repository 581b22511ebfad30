// SPDX-License-Identifier: Apache-2.0
//
// File: level_effects_shares.h
//
// Terms' shares of the variance that can be explained, and draws of them.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_

#include <cstdint>
#include <vector>

#include "importance/effects/level_effects.h"

namespace frostline::importance {

struct EffectShares {
  std::vector<double> main;   // by axis
  std::vector<double> total;  // by axis
  std::vector<double> terms;  // by term, main effects first
  // Of terms that did not enter, by residuals alike in the same cells.
  double rest = 0.0;
  double variance = 0.0;  // the explained variance; 0: all shares are 0
};

// Main effects are drawn together by their amplitudes (roots of variances), as
// far as chance explains differences: by a normal prior of their mean and
// deviation.
EffectShares SharesOf(const LevelEffects& model);

// Variances are drawn too, so one estimated as 0 need not stay 0.
// `left_out_r2`: the ridge's.
std::vector<EffectShares> DrawShares(const LevelEffects& model,
                                     double left_out_r2, int count,
                                     std::uint64_t seed);

// ln of the chance of so large a main effect by nothing.
double LogChanceOf(const LevelEffects& model, std::size_t term);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_
