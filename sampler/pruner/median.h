// SPDX-License-Identifier: Apache-2.0
//
// File: median.h
//
// The percentile pruner at 50 (see percentile.h), with its options but for
// percentile: stops a trial whose best value so far is worse than the median of
// others at the same step (Golovin et al., 2017).
#ifndef FROSTLINE_SAMPLER_PRUNER_MEDIAN_H_
#define FROSTLINE_SAMPLER_PRUNER_MEDIAN_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeMedianPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_MEDIAN_H_
