// SPDX-License-Identifier: Apache-2.0
//
// File: threshold.h
//
// Stops a trial whose newest value is NaN or outside fixed bounds, whatever the
// direction.
#ifndef FROSTLINE_SAMPLER_PRUNER_THRESHOLD_H_
#define FROSTLINE_SAMPLER_PRUNER_THRESHOLD_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeThresholdPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_THRESHOLD_H_
