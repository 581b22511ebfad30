// SPDX-License-Identifier: Apache-2.0
//
// File: asha.h
//
// Asynchronous successive halving (Li et al., MLSys 2020) stops trials here:
// one goes on from a rung while it is among the best 1 / reduction_factor of
// those that have come there. Rung k is at step
//
//   min_resource * reduction_factor ^ (min_early_stopping_rate + k)
#ifndef FROSTLINE_SAMPLER_PRUNER_ASHA_H_
#define FROSTLINE_SAMPLER_PRUNER_ASHA_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeAshaPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_ASHA_H_
