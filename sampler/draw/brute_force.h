// SPDX-License-Identifier: Apache-2.0
//
// File: brute_force.h
//
// Every point of a finite space once, in random order, until the space is
// exhausted; however large it is, for nothing is listed up front: each proposal
// is drawn evenly from the points that are left. What was proposed is read from
// the history, in whatever state it is there, so restarts, retries and parallel
// trials neither skip nor repeat a point, and enqueued points are not proposed
// again. The memory taken is that of the trials.
//
// No options. A continuous parameter is SAMPLER_INVALID; one parameter of more
// than kMaxBranches values is SPACE_TOO_LARGE.
#ifndef FROSTLINE_SAMPLER_DRAW_BRUTE_FORCE_H_
#define FROSTLINE_SAMPLER_DRAW_BRUTE_FORCE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

inline constexpr std::int64_t kMaxBranches = 1'000'000;

absl::StatusOr<std::unique_ptr<Sampler>> MakeBruteForceSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_BRUTE_FORCE_H_
