// SPDX-License-Identifier: Apache-2.0
//
// File: patient.h
//
// Stops a trial when the best of its last patience + 1 values is worse than its
// best before them by more than min_delta, and the pruner it wraps, if any,
// agrees. Pruners with rungs are not wrapped: they judge once a rung, and would
// be overruled for good.
#ifndef FROSTLINE_SAMPLER_PRUNER_PATIENT_H_
#define FROSTLINE_SAMPLER_PRUNER_PATIENT_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakePatientPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_PATIENT_H_
