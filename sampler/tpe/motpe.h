// SPDX-License-Identifier: Apache-2.0
//
// File: motpe.h
//
// With several objectives (Ozaki et al., 2020 and 2022) tpe's good tenth are
// whole ranks of non-domination and of the last one those that add most
// hypervolume (split/pareto.h); they weigh the same, and their number has no
// limit. This name refuses a single objective.
#ifndef FROSTLINE_SAMPLER_TPE_MOTPE_H_
#define FROSTLINE_SAMPLER_TPE_MOTPE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Sampler>> MakeMotpeSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_MOTPE_H_
