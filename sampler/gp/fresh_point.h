// SPDX-License-Identifier: Apache-2.0
//
// File: fresh_point.h
#ifndef FROSTLINE_SAMPLER_GP_FRESH_POINT_H_
#define FROSTLINE_SAMPLER_GP_FRESH_POINT_H_

#include <vector>

#include "base/rng.h"
#include "sampler/gp/level_axis.h"
#include "sampler/gp/levels.h"
#include "study/space.h"

namespace frostline::sampler {

// Takes on every axis a cell that the fewest trials have had: this is a Latin
// hypercube (McKay et al., 1979) that survives any history.
Point BalancedDraw(const Space& space, const std::vector<LevelAxis>& axes,
                   const std::vector<const LedgerTrial*>& trials, Rng& rng);

// Of some balanced draws it takes the one that shares least with the trials: so
// pairs of levels, too, come as often as can be.
Point SpreadDraw(const Space& space, const std::vector<LevelAxis>& axes,
                 const std::vector<const LedgerTrial*>& trials, Rng& rng);

// Returns `point`, or one that was not tried yet, as long as the space has one.
Point FreshPoint(const Space& space, Point point, const PointSet& seen,
                 Rng& rng);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_FRESH_POINT_H_
