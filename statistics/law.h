// SPDX-License-Identifier: Apache-2.0
//
// File: law.h
//
// How far apart two accuracies on the same n examples may really be. Tango's
// score test (Statistics in Medicine 17, 1998) sets what was seen beside what a
// supposed difference would give, with the likeliest rate of disagreement under
// it:
//
//   T(d) = (gained - lost - n d) / sqrt(n (2 q + d (1 - d)))
//
// It keeps its level where few examples differ, or none, where the usual
// interval would have no width.
#ifndef FROSTLINE_STATISTICS_LAW_H_
#define FROSTLINE_STATISTICS_LAW_H_

#include <cstdint>

namespace frostline::statistics {

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

// All d with |T(d)| <= z.
Range TangoInterval(const PairedCounts& counts, double z);

// The least true difference that the exact test at level `alpha` finds with
// probability `power`, if as many examples differ as have (Connor, Biometrics
// 43, 1987, solved for the difference). It is not below what the test can show
// at all: as many examples, all of one sign, as make 2^(1 - k) <= alpha.
double SmallestProportion(const PairedCounts& counts, double alpha,
                          double power);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_LAW_H_
