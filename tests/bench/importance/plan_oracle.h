// SPDX-License-Identifier: Apache-2.0
//
// File: plan_oracle.h
//
// The best that a plan can be: the extremes of a truth, and what anybody could
// know of it who is told beforehand which terms it has, how large each is and
// how loud the noise, and learns the rest from the trials.
#ifndef FROSTLINE_TESTS_BENCH_IMPORTANCE_PLAN_ORACLE_H_
#define FROSTLINE_TESTS_BENCH_IMPORTANCE_PLAN_ORACLE_H_

#include "study/history.h"
#include "study/space.h"
#include "tests/search/truths.h"

namespace frostline::bench {

struct Extremes {
  double lowest = 0.0;
  double highest = 0.0;
  Point best;
};

// Exact: module by module where there are no interactions, else every point.
Extremes ExtremesOf(const test::Truth& truth);

// The truth with each table replaced by its expectation, given the trials: a
// table is normal, with the variance of its share, and sums to 0 over each of
// its modules (Gaussian process regression: Rasmussen and Williams, 2006,
// equation 2.25). `noise` is above 0.
test::Truth ExpectedTruth(const test::Truth& truth, const History& history,
                          double noise);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_IMPORTANCE_PLAN_ORACLE_H_
