// SPDX-License-Identifier: Apache-2.0
//
// File: hyperband.h
//
// Hyperband (Li et al., JMLR 18, 2018): several ladders of rungs side by side
// (asha.h), the first one stopping earliest. Which of them a trial climbs is a
// function of the study's id and the trial's number (brackets.h), and it
// competes with those of its own bracket only.
//
// Options: min_resource (1); max_resource (auto: one more than the last step of
// the first trials that succeed; nobody is judged before that);
// reduction_factor (3); bootstrap_count (0), as of asha.
#ifndef FROSTLINE_SAMPLER_PRUNER_HYPERBAND_H_
#define FROSTLINE_SAMPLER_PRUNER_HYPERBAND_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeHyperbandPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_HYPERBAND_H_
