// SPDX-License-Identifier: Apache-2.0
//
// File: level_effects_shares.h
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_SHARES_H_

#include <cstdint>
#include <stop_token>
#include <vector>

#include "importance/effects/level_effects.h"

namespace frostline::importance {

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
