// SPDX-License-Identifier: Apache-2.0
//
// File: grid.h
//
// Every point of a finite space once. What was proposed is read from the
// history, in whatever state it is there, so restarts and parallel trials
// neither skip nor repeat a point, and points that were enqueued are not
// proposed again.
//
// Options: order = shuffled (default; any beginning of the study is a fair
// sample of the space) or listed (the last parameter changes fastest).
//
// A continuous parameter is SAMPLER_INVALID, more than kMaxGridPoints points
// are SPACE_TOO_LARGE; neither takes memory to find out.
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
