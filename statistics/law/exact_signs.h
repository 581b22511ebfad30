// SPDX-License-Identifier: Apache-2.0
//
// File: exact_signs.h
//
// Are two runs equal, given on which examples they differ? Were they, each
// difference could as well have had the other sign. The p-value is the share of
// all 2^n choices of signs whose sum is as far from 0 as what was seen: of
// differences of 1 McNemar's exact test (1947), else Fisher's randomisation
// test (1935), counted by convolution.
//
//   McNemarP(10, 2)           0.0386: 10 gained, 2 lost
//   SignsP({1, -1, 2, 1})     0.5: 8 of 16 choices are as far as 3
#ifndef FROSTLINE_STATISTICS_LAW_EXACT_SIGNS_H_
#define FROSTLINE_STATISTICS_LAW_EXACT_SIGNS_H_

#include <cstdint>
#include <span>

namespace frostline::statistics {

// Two-sided: twice the smaller tail, at most 1.
double McNemarP(std::int64_t gained, std::int64_t lost);

// From sums of absolute differences above 10,000 on, where they are not all 1,
// the normal law stands in, with a correction for continuity.
double SignsP(std::span<const std::int64_t> differences);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_LAW_EXACT_SIGNS_H_
