// SPDX-License-Identifier: Apache-2.0
//
// File: evaluate_options.h
//
// What a caller asks of importance: of which metric, over which trials, by
// which evaluator, at what cost. evaluator.h says which values are refused.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_EVALUATE_OPTIONS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_EVALUATE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "importance/measure/named_subsets.h"

namespace frostline::importance {

struct PedAnovaOptions {
  // The best so much of all trials are good.
  double target_quantile = 0.1;
  // A parameter that some trials lack is judged among those that have it,
  // as Optuna 5 does. Otherwise it is left out, and at least two trials are
  // good, as in Optuna 4.
  bool conditional = true;
  // Against the trials of the region; otherwise against the whole space.
  bool local = true;
};

struct EvaluateOptions {
  std::string evaluator = "fanova";
  // Metric of one of the objectives; empty: the first.
  std::string target;
  double top_quantile = 1.0;  // only the best so much of the trials …
  // … by this objective; empty: by the target.
  std::string best_by;
  std::uint64_t seed = 0;
  int trees = 64;
  int bootstraps = 64;  // for the intervals; 0: none
  bool pairs = true;
  NamedSubsets subsets;       // for fanova, forest and levels
  int threads = 0;            // 0: one for each core; changes no number
  PedAnovaOptions ped_anova;  // for ped-anova alone
  // false: for main shares alone; chance may not be looked at, and then nothing
  // is distinguishable.
  bool chance = true;
};

// Fewer finished trials than these are not evaluated.
inline constexpr int kMinTrials = 8;

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_EVALUATE_OPTIONS_H_
