// SPDX-License-Identifier: Apache-2.0
//
// File: percentile_rule.h
//
// As in Optuna, a trial stops where its best value so far is worse than the
// percentile of what succeeded trials reported at the same step. (Golovin et
// al., KDD 2017, section 3.2.2, take running averages.)
//
//   percentile 25 and losses .2 .4 .6 .8 at step 3: stops above .35
#ifndef FROSTLINE_SAMPLER_PRUNER_PERCENTILE_RULE_H_
#define FROSTLINE_SAMPLER_PRUNER_PERCENTILE_RULE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "sampler/options.h"
#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

struct PercentileOptions {
  double percentile = 50.0;
  std::int64_t startup_trials = 5;
  std::int64_t warmup_steps = 0;
  std::int64_t interval = 1;
  std::int64_t min_trials = 1;
};

// Reads all but the percentile.
PercentileOptions ReadPercentileOptions(OptionReader& reader);

// `name` is what reasons call the percentile.
std::unique_ptr<Pruner> MakePercentileRule(const PercentileOptions& options,
                                           std::string name,
                                           const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_PERCENTILE_RULE_H_
