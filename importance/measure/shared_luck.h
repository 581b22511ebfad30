// SPDX-License-Identifier: Apache-2.0
//
// File: shared_luck.h
//
// What training seeds gave to the trials of a study that shares them
// (statistics/seed_luck.h), and what that leaves open of new seeds. A
// search whose points all ran with a lucky seed promises too much of each, and
// the modules of its leaders, which ran with others, too, look worse than they
// are.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_SHARED_LUCK_H_
#define FROSTLINE_IMPORTANCE_MEASURE_SHARED_LUCK_H_

#include "base/rng.h"
#include "importance/measure/selection.h"
#include "statistics/seed_luck.h"

namespace frostline::importance {

// Is of losses, by the selection's trials; all 0 where no seeds are shared, or
// too few points ran with several.
statistics::SeedLuck FindSharedLuck(const Selection& selection);

// Its losses become what they were with seeds that are neither lucky nor not.
void TakeOff(const statistics::SeedLuck& luck, Selection& selection);

// Draws what the mean of `runs` runs with new seeds gets beside the mean of the
// seeds that were seen:
//
//   variance = variance of luck * (1 / runs + 1 / seeds)
//
// Student's, with the seeds as degrees of freedom: few tell little of how far
// others may lie. Takes nothing from `rng` where the variance is 0.
double DrawLuck(const statistics::SeedLuck& luck, double runs, Rng& rng);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_SHARED_LUCK_H_
