// SPDX-License-Identifier: Apache-2.0
//
// File: compat_volume.h
//
// Optuna 4 weighs good trials by the volume each adds (Ozaki et al., 2022,
// §4.3); Optuna 5 weighs them alike.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_VOLUME_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_VOLUME_H_

#include <cstdint>
#include <vector>

#include "study/history.h"
#include "study/objective.h"

namespace frostline::sampler {

// `trials` are indices in History::trials(). The one that adds most has 1;
// those that add nothing or break a constraint have nearly 0.
std::vector<double> CompatVolumeWeights(
    const History& history, const std::vector<std::uint32_t>& trials,
    const std::vector<Objective>& objectives);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_VOLUME_H_
