// SPDX-License-Identifier: Apache-2.0
//
// File: evaluate_options.h
//
// What a caller asks of importance; evaluator.h says what is refused.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_EVALUATE_OPTIONS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_EVALUATE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "importance/measure/named_subsets.h"

namespace frostline::importance {

struct PedAnovaOptions {
  // So many of all trials are good.
  double target_quantile = 0.1;
  // A parameter that some trials lack is judged among those that have it
  // (Optuna 5); else it is left out, and two trials at least are good (Optuna
  // 4).
  bool conditional = true;
  // Against the region's trials, not the space.
  bool local = true;
};

struct EvaluateOptions {
  std::string evaluator = "fanova";
  // An objective's metric; empty: the first.
  std::string target;
  double top_quantile = 1.0;  // the best so much of the trials …
  // … by this objective; empty: by the target.
  std::string best_by;
  std::uint64_t seed = 0;
  int trees = 64;
  int bootstraps = 64;  // for intervals; 0: none
  bool pairs = true;
  NamedSubsets subsets;       // for fanova, forest and levels
  int threads = 0;            // 0: one for each core; changes no number
  PedAnovaOptions ped_anova;  // for ped-anova alone
  // false: main shares alone; nothing need be distinguishable.
  bool chance = true;
};

// Fewer finished trials are not evaluated.
inline constexpr int kMinTrials = 8;

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_EVALUATE_OPTIONS_H_
