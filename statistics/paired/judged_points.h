// SPDX-License-Identifier: Apache-2.0
//
// File: judged_points.h
//
// In which order points stand, where some ran once and others with several
// seeds. It is no forecast: how far one good run has to be drawn back depends
// on noise that is not known where all ran once.
//
//   score(p)  = mean over its runs of (value - luck of the run's seed)
//   judged(p) = (runs of p * score(p) + mean of all scores) / (runs of p + 1)
//
// Luck is that of seed_luck.h: a point that ran with an unlucky seed, too, does
// not stand behind one that was spared it. Drawn to what is usual by the weight
// of one result, one good run no more stands before three.
//
//   A: .80, .70 and B: .80, .70 with the seeds 1 and 2; C: .79 with seed 1
//   their means are .75, .75 and .79; they are judged .750, .750 and .748
#ifndef FROSTLINE_STATISTICS_PAIRED_JUDGED_POINTS_H_
#define FROSTLINE_STATISTICS_PAIRED_JUDGED_POINTS_H_

#include <cstddef>
#include <vector>

#include "statistics/seed_luck.h"

namespace frostline::statistics {

// Answers judged(p) of the points 0 … `points` - 1; NaN for one that never ran.
// REQUIRES: points are below `points`, values are finite.
std::vector<double> JudgePoints(std::size_t points,
                                const std::vector<PointRun>& runs);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_PAIRED_JUDGED_POINTS_H_
