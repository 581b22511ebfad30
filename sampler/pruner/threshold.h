// SPDX-License-Identifier: Apache-2.0
//
// File: threshold.h
//
// Pruners that look at a trial's own curve alone, and the one that never stops.
#ifndef FROSTLINE_SAMPLER_PRUNER_THRESHOLD_H_
#define FROSTLINE_SAMPLER_PRUNER_THRESHOLD_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

// Never stops a trial.
absl::StatusOr<std::unique_ptr<Pruner>> MakeNoPruner(
    const PrunerSpec& spec, const Objective& objective);

// Stops a trial whose newest value is NaN or outside fixed bounds, whatever the
// direction.
absl::StatusOr<std::unique_ptr<Pruner>> MakeThresholdPruner(
    const PrunerSpec& spec, const Objective& objective);

// Stops a trial when the best of its last patience + 1 values is worse than its
// best before them by more than min_delta, and the pruner it wraps, if any,
// agrees. Pruners with rungs are not wrapped: they judge once a rung, and would
// be overruled for good.
absl::StatusOr<std::unique_ptr<Pruner>> MakePatientPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_THRESHOLD_H_
