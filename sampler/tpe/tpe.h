// SPDX-License-Identifier: Apache-2.0
//
// File: tpe.h
//
// In the tree-structured Parzen estimator (Bergstra et al., 2011, section 4)
// the good trials and the rest each become a density over the space, l and g,
// and of some candidates drawn from l the one with the largest l/g is proposed,
// which is the one of largest expected improvement.
//
// Ours (native_tpe.h) knows that levels are ordered and frozen is of its own
// kind, keeps away from what failed, and repeats no point
// (docs/explanation/tpe.md). The option `compat` makes it Optuna's
// (optuna/compat.h).
#ifndef FROSTLINE_SAMPLER_TPE_TPE_H_
#define FROSTLINE_SAMPLER_TPE_TPE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Sampler>> MakeTpeSampler(
    const SamplerInput& input);

// With several objectives (Ozaki et al., 2020 and 2022) tpe's good tenth are
// whole ranks of non-domination and of the last one those that add most
// hypervolume (sampler/split.h); they weigh the same, and their number has no
// limit. This name refuses a single objective.
absl::StatusOr<std::unique_ptr<Sampler>> MakeMotpeSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_TPE_H_
