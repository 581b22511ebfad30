// SPDX-License-Identifier: Apache-2.0
//
// File: median.h
//
// The median is percentile.h at 50 (Golovin et al., 2017).
#ifndef FROSTLINE_SAMPLER_PRUNER_MEDIAN_H_
#define FROSTLINE_SAMPLER_PRUNER_MEDIAN_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeMedianPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_MEDIAN_H_
