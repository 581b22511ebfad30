// SPDX-License-Identifier: Apache-2.0
//
// File: random.h
//
// Levels, choices and stepped values are equally likely, logarithmic ones
// uniform in the logarithm (Bergstra and Bengio, 2012). A rate with `freeze` is
// frozen in `frozen_share` of the draws.
//
// The default, kFrozenShare, is about the share of frozen in a typical list of
// levels, and what importance measures with.
#ifndef FROSTLINE_SAMPLER_DRAW_RANDOM_H_
#define FROSTLINE_SAMPLER_DRAW_RANDOM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"
#include "study/space.h"

namespace frostline::sampler {

inline constexpr double kFrozenShare = 0.2;

double DrawValue(const Domain& domain, double frozen_share, Rng& rng);

// Draws active parameters only, in the space's order.
Point DrawPoint(const Space& space, double frozen_share, Rng& rng);

absl::StatusOr<std::unique_ptr<Sampler>> MakeRandomSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_RANDOM_H_
