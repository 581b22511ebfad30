// SPDX-License-Identifier: Apache-2.0
//
// File: wilcoxon.h
//
// Stops a trial that is worse than the best one over the same steps (folds,
// seeds or instances) by a one-sided signed-rank test of the paired
// differences, unless its mean is as good.
#ifndef FROSTLINE_SAMPLER_PRUNER_WILCOXON_H_
#define FROSTLINE_SAMPLER_PRUNER_WILCOXON_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeWilcoxonPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_WILCOXON_H_
