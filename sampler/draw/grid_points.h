// SPDX-License-Identifier: Apache-2.0
//
// File: grid_points.h
//
// The points of a finite space, walked one after the other without keeping
// them: the last parameter changes fastest, inactive ones are absent.
#ifndef FROSTLINE_SAMPLER_DRAW_GRID_POINTS_H_
#define FROSTLINE_SAMPLER_DRAW_GRID_POINTS_H_

#include <cstdint>
#include <vector>

#include "sampler/draw/numeric_range.h"
#include "study/space.h"

namespace frostline::sampler {

class GridPoints {
 public:
  // REQUIRES: every domain of `space` is finite.
  explicit GridPoints(const Space& space);

  Point First() const;
  // Steps to the next point; false, and the first point, after the last one.
  bool Advance(Point& point) const;

  // The point of the grid that `point` stands for: stepped values carry the
  // rounding of whoever computed them. REQUIRES: space.Check(point) is OK.
  Point Snap(Point point) const;

  // How many there are, or limit + 1 when there are more than `limit`.
  std::int64_t Count(std::int64_t limit) const;

 private:
  // Gives parameters from `begin` on their first values.
  void Reset(int begin, Point& point) const;

  Space space_;
  std::vector<NumericRange> ranges_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_GRID_POINTS_H_
