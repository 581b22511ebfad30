// SPDX-License-Identifier: Apache-2.0
//
// File: hyperband.h
//
// Hyperband (Li et al., JMLR 18, 2018) has several ladders of rungs side by
// side (asha.h), the first one stopping earliest. A trial competes within its
// bracket (brackets.h).
#ifndef FROSTLINE_SAMPLER_PRUNER_HYPERBAND_H_
#define FROSTLINE_SAMPLER_PRUNER_HYPERBAND_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeHyperbandPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_HYPERBAND_H_
