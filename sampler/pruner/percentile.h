// SPDX-License-Identifier: Apache-2.0
//
// File: percentile.h
//
// Stops a trial by percentile_rule.h, or when it has reported nothing but NaN.
#ifndef FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_
#define FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakePercentilePruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_PERCENTILE_H_
