// SPDX-License-Identifier: Apache-2.0
//
// File: distributions.h
//
// The normal law, Student's and the fair coin's, exact to 1e-10 or better.
#ifndef FROSTLINE_STATISTICS_LAW_DISTRIBUTIONS_H_
#define FROSTLINE_STATISTICS_LAW_DISTRIBUTIONS_H_

#include <cstdint>

namespace frostline::statistics {

// P(X <= z).
double NormalBelow(double z);
double NormalQuantile(double p);  // REQUIRES: 0 < p < 1

// P(T <= t), by the incomplete beta function's continued fraction (Abramowitz
// and Stegun, 26.5.8 and 26.7.1). REQUIRES: freedom > 0; infinite is normal.
double StudentBelow(double t, double freedom);
double StudentQuantile(double p, double freedom);  // REQUIRES: 0 < p < 1

// P(at most `heads` of so many throws of a fair coin).
double CoinAtMost(std::int64_t heads, std::int64_t throws);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_LAW_DISTRIBUTIONS_H_
