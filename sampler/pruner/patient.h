// SPDX-License-Identifier: Apache-2.0
//
// File: patient.h
//
// Stops a trial that has not improved for a while: the best of its last
// patience + 1 values is worse than its best before them by more than
// min_delta. Where another pruner is wrapped, that one must want to stop it
// too.
//
// Options: patience (3); min_delta (0); wraps: median, percentile, threshold or
// wilcoxon, whose options are given with "wraps." before their names. Pruners
// with rungs are not wrapped: they judge a trial once a rung, and would be
// overruled then for good.
#ifndef FROSTLINE_SAMPLER_PRUNER_PATIENT_H_
#define FROSTLINE_SAMPLER_PRUNER_PATIENT_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakePatientPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_PATIENT_H_
