// SPDX-License-Identifier: Apache-2.0
//
// File: mixture.h
//
// Mixes level effects and a forest into one prediction, (1 - w) levels + w
// forest, by least squares on trials that neither has seen:
//
//   w = argmin over 0 <= w <= 1 of sum over i ((1 - w) l_i + w f_i)^2
//
// l_i and f_i are what each misses of trial i unseen (stacking; Breiman,
// "Stacked Regressions", 1996). The forest is grown on the targets, not on what
// level effects leave: a cliff of many parameters is simple for trees, what is
// left of it is not.
//
//   const Mixture mixture = FitMixture(data, model, {.seed = 7});
//   mixture.forest_weight;   // 0 on targets that level effects describe
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_H_

#include <cstdint>
#include <stop_token>
#include <vector>

#include "importance/effects/level_effects.h"
#include "importance/forest/forest.h"
#include "importance/measure/dataset.h"

namespace frostline::importance {

struct MixtureOptions {
  int trees = 64;
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one for each core
  std::stop_token stop = {};
};

// With weight 0 there are no trees.
struct Mixture {
  double forest_weight = 0.0;
  double weight_deviation = 0.0;
  std::vector<Tree> trees;
  // These are shares of variance predicted of trials not seen; NaN without
  // variance.
  double levels_r2 = 0.0;
  double r2 = 0.0;
  double missed_variance = 0.0;  // of what is not predicted
  std::vector<double> missed;    // by trial, as if not seen
  double forest_part = 0.0;      // of what is predicted; 0 … 1
};

Mixture LevelsAlone(const LevelEffects& model);

// The weight is 0 unless the forest clearly helps: where it does not, it costs
// a few trees and no accuracy. `data` has the model's trials.
Mixture FitMixture(const Dataset& data, const LevelEffects& model,
                   const MixtureOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_H_
