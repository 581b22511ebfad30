// SPDX-License-Identifier: Apache-2.0
//
// File: none.h
//
// Never stops a trial.
#ifndef FROSTLINE_SAMPLER_PRUNER_NONE_H_
#define FROSTLINE_SAMPLER_PRUNER_NONE_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeNoPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_NONE_H_
