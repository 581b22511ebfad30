// SPDX-License-Identifier: Apache-2.0
//
// File: grid.h
//
// Every point of a finite space once, shuffled or in order (the last parameter
// changes fastest). Every trial in the history counts, in any state, so
// restarts, parallel and enqueued trials neither skip nor repeat a point.
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
