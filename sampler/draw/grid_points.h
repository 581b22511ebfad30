// SPDX-License-Identifier: Apache-2.0
//
// File: grid_points.h
//
// Points are not kept: the last parameter changes fastest, inactive ones are
// absent.
#ifndef FROSTLINE_SAMPLER_DRAW_GRID_POINTS_H_
#define FROSTLINE_SAMPLER_DRAW_GRID_POINTS_H_

#include <cstdint>
#include <vector>

#include "sampler/draw/numeric_range.h"
#include "study/space.h"

namespace frostline::sampler {

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

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_GRID_POINTS_H_
