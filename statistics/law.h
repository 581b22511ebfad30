// SPDX-License-Identifier: Apache-2.0
//
// File: law.h
//
// Probability distributions and the exact tests that rest on them: the normal
// law, Student's and the fair coin's; tests of signs; Tango's score; Holm's
// adjustment.
#ifndef FROSTLINE_STATISTICS_LAW_H_
#define FROSTLINE_STATISTICS_LAW_H_

#include <cstdint>
#include <span>
#include <vector>

namespace frostline::statistics {

// These are exact to 1e-10 or better, where nothing else is said.

// P(X <= z).
double NormalBelow(double z);
double NormalQuantile(double p);  // REQUIRES: 0 < p < 1

// P(T <= t), by the incomplete beta function's continued fraction (Abramowitz
// and Stegun, 26.5.8 and 26.7.1). REQUIRES: freedom > 0; infinite is normal.
double StudentBelow(double t, double freedom);
double StudentQuantile(double p, double freedom);  // REQUIRES: 0 < p < 1

// Approximates StudentQuantile of the level at which the normal quantile is z,
// by three terms of the expansion in 1 / freedom (Abramowitz and Stegun,
// 26.7.5). At 95 % it is exact to a thousandth from 5 degrees on. REQUIRES:
// freedom > 0.
double StudentFromNormal(double z, double freedom);

// Returns ln P(X >= x) to a few per cent, X chi-squared of k degrees, by the
// cube-root transformation (Wilson and Hilferty, 1931). It never underflows.
double LogChiSquaredTail(double x, double k);

// P(at most `heads` heads in `throws` throws of a fair coin).
double CoinAtMost(std::int64_t heads, std::int64_t throws);

// Tests whether two runs are equal, given the examples on which they differ. If
// they are equal, each difference could as well have had the other sign. The
// p-value is the share of all 2^n choices of signs whose sum is as far from 0
// as the observed one. If all differences are 1, this is McNemar's exact test
// (1947), else Fisher's randomisation test (1935), counted by convolution.
//
//   McNemarP(10, 2)           0.0386: 10 gained, 2 lost
//   SignsP({1, -1, 2, 1})     0.5: 8 of 16 choices are as far as 3

// Two-sided: twice the smaller tail, at most 1.
double McNemarP(std::int64_t gained, std::int64_t lost);

// If the differences are not all 1 and their absolute values sum to more than
// 10,000, the normal law is used, with a correction for continuity.
double SignsP(std::span<const std::int64_t> differences);

// How far apart two accuracies on the same n examples may really be. Tango's
// score test (Statistics in Medicine 17, 1998) compares the observed difference
// with a supposed one, at the likeliest rate of disagreement under it:
//
//   T(d) = (gained - lost - n d) / sqrt(n (2 q + d (1 - d)))
//
// It keeps its level if few examples differ. If none does, the usual interval
// would have no width.

// The examples on which two runs were right, counted in pairs.
struct PairedCounts {
  std::int64_t examples = 0;
  std::int64_t gained = 0;  // right by the second alone
  std::int64_t lost = 0;    // right by the first alone

  double Difference() const;
};

// T(d), roughly standard normal if d is true. REQUIRES: -1 < d < 1.
double TangoScore(const PairedCounts& counts, double d);

struct Range {
  double low = 0.0;
  double high = 0.0;
};

// Returns all d with |T(d)| <= z.
Range TangoInterval(const PairedCounts& counts, double z);

// Returns the least true difference that the exact test at level `alpha` finds
// with probability `power`, if as many examples differ as observed (Connor,
// Biometrics 43, 1987, solved for the difference). It is never below the least
// that the test can show: k examples of one sign with 2^(1 - k) <= alpha.
double SmallestProportion(const PairedCounts& counts, double alpha,
                          double power);

// Returns p-values adjusted for several tests at once, so that the chance of
// any false finding among them stays below the level (Holm, Scandinavian
// Journal of Statistics 6, 1979). The smallest of m p-values is multiplied by
// m, the next by m - 1, and none is less than one before it.
//
//   HolmAdjusted({.01, .04, .03})     {.03, .06, .06}
//
// NaN stays NaN and counts as no test.
std::vector<double> HolmAdjusted(const std::vector<double>& p);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_LAW_H_
