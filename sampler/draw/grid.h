// SPDX-License-Identifier: Apache-2.0
//
// File: grid.h
//
// Points come once, shuffled or in the order of grid_points.h. Every trial
// counts, as in brute_force.h.
//
// A continuous parameter is SAMPLER_INVALID, more than kMaxGridPoints points
// are SPACE_TOO_LARGE.
#ifndef FROSTLINE_SAMPLER_DRAW_GRID_H_
#define FROSTLINE_SAMPLER_DRAW_GRID_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/input.h"
#include "sampler/sampler.h"

namespace frostline::sampler {

inline constexpr std::int64_t kMaxGridPoints = 1'000'000;

absl::StatusOr<std::unique_ptr<Sampler>> MakeGridSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_GRID_H_
