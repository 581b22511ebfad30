// SPDX-License-Identifier: Apache-2.0
//
// File: percentile.h
//
// Stops a trial whose best value so far is worse than a percentile, over the
// trials that succeeded, of their values at the same step. A trial that has
// reported nothing but NaN is stopped.
//
// Options: percentile (25): the share of trials, in percent, that are good
// enough; startup_trials (5): so many must have succeeded first; warmup_steps
// (0): no trial is judged before this step; interval (1): judge at every so
// many steps; min_trials (1): so many must have a value at this step.
#ifndef FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_
#define FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakePercentilePruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_
