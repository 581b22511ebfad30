// SPDX-License-Identifier: Apache-2.0
//
// File: wilcoxon.h
//
// Stops a trial that is worse than the best one over the same repeats, the
// steps being folds, seeds or instances: a one-sided signed-rank test of the
// paired differences. Not stopped while its mean is as good as that of the
// best.
//
// Options: p_threshold (0.1): stop below this probability; startup_steps (2):
// so many pairs are needed, and at least 2.
#ifndef FROSTLINE_SAMPLER_PRUNER_WILCOXON_H_
#define FROSTLINE_SAMPLER_PRUNER_WILCOXON_H_

#include <memory>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeWilcoxonPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_WILCOXON_H_
