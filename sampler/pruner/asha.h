// SPDX-License-Identifier: Apache-2.0
//
// File: asha.h
//
// Asynchronous successive halving (Li et al., "A System for Massively Parallel
// Hyperparameter Tuning", MLSys 2020), in the form in which it stops trials.
// Rung k is at step min_resource * reduction_factor ^ (min_early_stopping_rate
// + k). A trial goes on from a rung while it is among the best 1 /
// reduction_factor of those that came there before it.
//
// Options: min_resource (auto: a hundredth of the last step of the first trials
// that succeed, at least 1; nobody is judged before that); reduction_factor
// (4); min_early_stopping_rate (0); bootstrap_count (0): so many must come to a
// rung before anybody goes on from it; not together with auto.
#ifndef FROSTLINE_SAMPLER_PRUNER_ASHA_H_
#define FROSTLINE_SAMPLER_PRUNER_ASHA_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeAshaPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_ASHA_H_
