// SPDX-License-Identifier: Apache-2.0
//
// File: median.h
//
// Stops a trial whose best value so far is worse than the median, over the
// trials that succeeded, of their values at the same step (the median rule of
// Golovin et al., 2017, in Optuna's form: recorded decisions are equal). A
// trial that has reported nothing but NaN is stopped.
//
// Options: startup_trials (5): so many must have succeeded first;
// warmup_steps (0): no trial is judged before this step; interval (1): judge
// at every so many steps; min_trials (1): so many must have a value at this
// step.
#ifndef FROSTLINE_SAMPLER_PRUNER_MEDIAN_H_
#define FROSTLINE_SAMPLER_PRUNER_MEDIAN_H_

#include <memory>
#include <vector>

#include "sampler/options.h"
#include "sampler/pruner/pruner.h"

namespace frostline {

absl::StatusOr<std::unique_ptr<Pruner>> MakeMedianPruner(
    const Options& options, const std::vector<Objective>& objectives);

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_PRUNER_MEDIAN_H_
