// SPDX-License-Identifier: Apache-2.0
//
// File: random.h
//
// Random search (Bergstra and Bengio, 2012): every draw is independent of the
// history. Levels, choices and stepped values are equally likely, logarithmic
// ones are uniform in the logarithm.
//
// A log-uniform rate with `freeze` is frozen in `frozen_share` of the draws and
// log-uniform in the others. kFrozenShare is about what frozen has among the
// levels of a typical list; importance measures with the same number.
//
// Options: frozen_share (0 … 1, default 0.2).
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

// Parameters are drawn in the space's order, and only active ones.
Point DrawPoint(const Space& space, double frozen_share, Rng& rng);

absl::StatusOr<std::unique_ptr<Sampler>> MakeRandomSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_RANDOM_H_
