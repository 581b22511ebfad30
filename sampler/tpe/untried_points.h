// SPDX-License-Identifier: Apache-2.0
//
// File: untried_points.h
//
// An untried point was not tried as often as `dedup` allows.
#ifndef FROSTLINE_SAMPLER_TPE_UNTRIED_POINTS_H_
#define FROSTLINE_SAMPLER_TPE_UNTRIED_POINTS_H_

#include <optional>
#include <vector>

#include "base/rng.h"
#include "sampler/tpe/cells.h"
#include "sampler/tpe/tpe_options.h"
#include "study/space.h"

namespace frostline::sampler {

// It keeps references. `own`, the point of the trial that asks, is no duplicate
// of itself.
class UntriedPoints {
 public:
  UntriedPoints(const Space& space, const TpeOptions& options)
      : space_(space), options_(options) {}

  bool IsTried(const CellTable& table, const Point* own,
               const Point& point) const;
  // Draws from the prior and, where that finds none, from all points of a
  // finite space that is not too large.
  std::optional<Point> Find(const CellTable& table, const Point* own,
                            Rng& rng) const;
  // Returns any point when there is none.
  Point Draw(const CellTable& table, const Point* own, Rng& rng) const;

 private:
  const Space& space_;
  const TpeOptions& options_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_UNTRIED_POINTS_H_
