// SPDX-License-Identifier: Apache-2.0
//
// File: brute_force.h
//
// Each point is drawn evenly from those that are left, which are never listed.
// Every trial in the history counts, in any state, so restarts, retries,
// parallel and enqueued trials neither skip nor repeat a point.
//
// A continuous parameter is SAMPLER_INVALID, one of more than kMaxBranches
// values is SPACE_TOO_LARGE.
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
