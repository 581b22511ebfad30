// SPDX-License-Identifier: Apache-2.0
//
// File: holm.h
//
// Several tests at once, with at most 5 % for any false finding among them
// (Holm, Scandinavian Journal of Statistics 6, 1979): of m p-values the
// smallest counts m times, the next m - 1 times, and none less than one before.
//
//   HolmAdjusted({.01, .04, .03})     {.03, .06, .06}
#ifndef FROSTLINE_STATISTICS_LAW_HOLM_H_
#define FROSTLINE_STATISTICS_LAW_HOLM_H_

#include <vector>

namespace frostline::statistics {

// NaN stays NaN and counts as no test.
std::vector<double> HolmAdjusted(const std::vector<double>& p);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_LAW_HOLM_H_
