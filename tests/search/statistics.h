// SPDX-License-Identifier: Apache-2.0
//
// File: statistics.h
//
// What benchmarks say of samples of runs.
#ifndef FROSTLINE_TESTS_SEARCH_STATISTICS_H_
#define FROSTLINE_TESTS_SEARCH_STATISTICS_H_

#include <vector>

namespace frostline::test {

// One-sided Mann–Whitney U test (Mann and Whitney, 1947): how likely values as
// much greater than `others` as these are, were both drawn alike. Normal
// approximation with correction for ties and continuity; 1 when all are equal.
double ProbabilityNotGreater(const std::vector<double>& values,
                             const std::vector<double>& others);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_SEARCH_STATISTICS_H_
