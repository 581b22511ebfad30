// SPDX-License-Identifier: Apache-2.0
//
// File: shift_tests.h
//
// One-sided tests of how large a difference is, for any supposed size. Two of
// them make an equivalence test (Schuirmann, 1987), and all sizes that are not
// refused an interval.
#ifndef FROSTLINE_STATISTICS_PAIRED_SHIFT_TESTS_H_
#define FROSTLINE_STATISTICS_PAIRED_SHIFT_TESTS_H_

#include <functional>
#include <vector>

#include "statistics/law.h"

namespace frostline::statistics {

struct ShiftTests {
  // The p-value of "the difference is at most so much": small where it is more.
  std::function<double(double)> above;
  std::function<double(double)> below;  // "at least so much"
  // Of this coverage, between the same tests' limits.
  std::function<Range(double)> interval;
};

// By Tango's score.
ShiftTests OfProportions(const PairedCounts& counts);

// (difference - supposed) / deviation is Student's.
ShiftTests OfStudent(double difference, double deviation, double freedom);

// By the share of bootstrapped differences beyond (Efron and Tibshirani, 1993),
// of which one more is taken to be: no p-value is 0.
ShiftTests OfDraws(std::vector<double> differences);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_PAIRED_SHIFT_TESTS_H_
