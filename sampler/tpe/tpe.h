// SPDX-License-Identifier: Apache-2.0
//
// File: tpe.h
//
// The tree-structured Parzen estimator (Bergstra et al., 2011, section 4): the
// good trials and the rest each become a density over the space, l and g, and
// of some candidates drawn from l the one with the largest l/g is proposed,
// which is the one of largest expected improvement.
//
// Ours (native_tpe.h) knows that levels are ordered and frozen is of its own
// kind, keeps away from what failed, and repeats no point
// (docs/explanation/tpe.md). With the option `compat` it is Optuna's, number by
// number, with options of its own (compat.h).
//
// Options (docs/reference/samplers.md):
//   startup_trials (10)         results before it models
//   startup (spread)            startup trials apart from each other, or random
//   candidates (32)             points drawn from l
//   improve (1)                 rounds of better neighbours
//   multivariate (true)         parameters together too; several objectives:
//                               false
//   ordinal (true)              neighbouring levels are alike
//   frozen_distance (learnt)    how far frozen is from the lowest rate; or
//                               level: one step
//   rank_weights (true)         better good trials weigh more
//   constant_liar (true)        running trials count as bad
//   failures (avoid)            keep away from failed trials, or ignore them
//   cost_aware (false)          improvement by the second
//   warm_start (true)           earlier studies count
//   dedup (avoid)               off, avoid or replicate:n tries of a point
//   frozen_share (0.2)          how often a rate is drawn frozen
//   kernels (256)               of bad trials, at most
#ifndef FROSTLINE_SAMPLER_TPE_TPE_H_
#define FROSTLINE_SAMPLER_TPE_TPE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Sampler>> MakeTpeSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_TPE_H_
