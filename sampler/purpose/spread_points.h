// SPDX-License-Identifier: Apache-2.0
//
// File: spread_points.h
//
// Values do not matter: running and failed trials count too, lest a corner that
// always fails is asked again.
//
//   design   each level as often as the others, and pairs of levels as often
//            as can be (SpreadDraw of fresh_point.h)
//   telling  of some random points the one that takes most off the variance of
//            main effects (surrogate/questions.h)
#ifndef FROSTLINE_SAMPLER_PURPOSE_SPREAD_POINTS_H_
#define FROSTLINE_SAMPLER_PURPOSE_SPREAD_POINTS_H_

#include <vector>

#include "base/rng.h"
#include "sampler/gp/level_axis.h"
#include "sampler/gp/levels.h"
#include "study/space.h"
#include "surrogate/rows.h"

namespace frostline::sampler {

using TrialList = std::vector<const LedgerTrial*>;

// It keeps references.
class SpreadPoints {
 public:
  SpreadPoints(const Space& space, const std::vector<LevelAxis>& axes);

  // The points are ones that no trial has, while the space has one.
  Point Design(const TrialList& trials, Rng& rng) const;
  Point Telling(const TrialList& trials, Rng& rng) const;

 private:
  const Space& space_;
  const std::vector<LevelAxis>& axes_;
  std::vector<surrogate::Axis> measured_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PURPOSE_SPREAD_POINTS_H_
