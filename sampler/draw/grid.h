// SPDX-License-Identifier: Apache-2.0
//
// File: grid.h
//
// Proposes each point of a grid once, shuffled or in the order of GridPoints.
// Every trial counts, as in finite.h.
//
// A continuous parameter is SAMPLER_INVALID, more than kMaxGridPoints points
// are SPACE_TOO_LARGE.
#ifndef FROSTLINE_SAMPLER_DRAW_GRID_H_
#define FROSTLINE_SAMPLER_DRAW_GRID_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/draw/random.h"
#include "sampler/sampler.h"
#include "study/space.h"

namespace frostline::sampler {

// The points of a grid, one after the other. They are not kept: the last
// parameter changes fastest, inactive ones are absent.
class GridPoints {
 public:
  // REQUIRES: every domain is finite.
  explicit GridPoints(const Space& space);

  Point First() const;
  // After the last point it answers false and goes to the first.
  bool Advance(Point& point) const;

  // Removes the rounding that stepped values may carry. REQUIRES:
  // space.Check(point) is OK.
  Point Snap(Point point) const;

  // Counts no further than limit + 1.
  std::int64_t Count(std::int64_t limit) const;

 private:
  void Reset(int begin, Point& point) const;

  Space space_;
  std::vector<NumericRange> ranges_;
};

inline constexpr std::int64_t kMaxGridPoints = 1'000'000;

absl::StatusOr<std::unique_ptr<Sampler>> MakeGridSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_GRID_H_
