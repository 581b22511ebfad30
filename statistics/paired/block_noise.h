// SPDX-License-Identifier: Apache-2.0
//
// File: block_noise.h
//
// What the seed makes of a run's score. With the same seeds for all it is what
// is left of a randomised block design without repeats (Fisher, 1935): of two
// contenders that is the paired t-test.
//
//   rest(c, s) = value(c, s) - mean of c - mean of s + mean of all
//   variance   = sum of rest^2 / ((contenders - 1) (seeds - 1))
#ifndef FROSTLINE_STATISTICS_PAIRED_BLOCK_NOISE_H_
#define FROSTLINE_STATISTICS_PAIRED_BLOCK_NOISE_H_

#include <vector>

#include "statistics/paired/contender.h"

namespace frostline::statistics {

// A variance as its sum of squares and degrees of freedom.
struct Noise {
  double squares = 0.0;
  double freedom = 0.0;

  bool known() const { return freedom >= 1.0; }
  double deviation() const;  // NaN unless known
  // How far the mean of `runs` may be off, with probability `level`; NaN unless
  // known.
  double Reach(double level, double runs) const;
  // Of the difference of two: twice the variance of one.
  Noise OfDifference() const { return {2.0 * squares, freedom}; }
};

double MeanOf(const std::vector<double>& values);
double SquaresAround(const std::vector<double>& values, double mean);

// Of runs about their own contender's mean: what one more seed would show.
Noise OverSeeds(const std::vector<BySeed>& contenders);

// Of one run, over the seeds that all contenders with a result have run with.
Noise WithinBlocks(const std::vector<BySeed>& contenders);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_PAIRED_BLOCK_NOISE_H_
