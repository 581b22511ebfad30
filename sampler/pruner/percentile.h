// SPDX-License-Identifier: Apache-2.0
//
// File: percentile.h
//
// Stops a trial whose best value so far is worse than a percentile of the
// values, at the same step, of trials that succeeded (percentile_rule.h), or
// which has reported nothing but NaN. Options: docs/reference/pruners.md.
#ifndef FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_
#define FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakePercentilePruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_
