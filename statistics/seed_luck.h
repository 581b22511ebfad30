// SPDX-License-Identifier: Apache-2.0
//
// File: seed_luck.h
//
// The luck of a training seed: what it added to all points that ran with it.
// Some points ran with several seeds and others with one.
//
//   value(r) = score(point of r) + luck(seed of r) + rest(r)
//   luck     minimises sum of rest^2 + w * sum of luck^2
//   w        = variance of rest / variance of luck
//
// It is the best linear prediction of an additive model (Henderson, 1975).
// The variances are computed as in compare.h, from the points that ran with the
// two seeds that most points repeated. One degree of freedom is added that says
// that they are equal.
//
//   A: .80, .70 and B: .80, .70 with the seeds 1 and 2; C: .79 with seed 1
//   the lucks are .043 and -.043: C would have had .747 in the mean of both
#ifndef FROSTLINE_STATISTICS_SEED_LUCK_H_
#define FROSTLINE_STATISTICS_SEED_LUCK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace frostline::statistics {

// One run of a point with a seed.
struct PointRun {
  std::size_t point = 0;
  std::uint64_t seed = 0;  // 0: unknown, and shared with no other run
  double value = 0.0;
};

// The luck of the seeds of some runs. All is 0 unless two points ran with the
// same two seeds: without that, luck cannot be told from the rest.
struct SeedLuck {
  std::vector<double> of_run;  // what its seed gave to each run
  double variance = 0.0;       // of the luck of one seed
  std::size_t seeds = 0;       // that several points ran with
};

// Finds the luck of each seed. The order of `runs` changes only the last
// digits. REQUIRES: points are below `points`, values are finite.
SeedLuck FindSeedLuck(std::size_t points, const std::vector<PointRun>& runs);

// Returns a score by which to order points, if some ran once and others with
// several seeds. It is no forecast: how far one good run has to be drawn back
// depends on noise, which is not known if all ran once.
//
//   score(p)  = mean over its runs of (value - luck of the run's seed)
//   judged(p) = (runs of p * score(p) + mean of all scores) / (runs of p + 1)
//
// Luck is that of FindSeedLuck: a point that ran with an unlucky seed is not
// placed behind one that did not. Each score is drawn towards the mean of all
// by the weight of one result, so one good run is not placed before three.
//
//   A: .80, .70 and B: .80, .70 with the seeds 1 and 2; C: .79 with seed 1
//   their means are .75, .75 and .79; they are judged .750, .750 and .748
//
// Returns judged(p) of the points 0 … `points` - 1; NaN for one that never ran.
// REQUIRES: points are below `points`, values are finite.
std::vector<double> JudgePoints(std::size_t points,
                                const std::vector<PointRun>& runs);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_SEED_LUCK_H_
