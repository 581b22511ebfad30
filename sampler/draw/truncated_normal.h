// SPDX-License-Identifier: Apache-2.0
//
// File: truncated_normal.h
//
// Logarithms keep the standard normal accurate in far tails and narrow
// intervals, where probabilities underflow or cancel.
#ifndef FROSTLINE_SAMPLER_DRAW_TRUNCATED_NORMAL_H_
#define FROSTLINE_SAMPLER_DRAW_TRUNCATED_NORMAL_H_

namespace frostline::sampler {

inline constexpr double kLogSqrtTwoPi = 0.91893853320467274178;

double LogNormalCdf(double x);

// Returns the x with ln P(X <= x) = y. REQUIRES: y <= 0.
double InverseLogNormalCdf(double y);

// REQUIRES: a <= b.
double LogNormalMass(double a, double b);

// Is -infinity outside [a, b].
double TruncatedNormalLogPdf(double x, double a, double b);

// Returns the x below which a share q of the mass lies. REQUIRES: 0 <= q <= 1.
double TruncatedNormalPpf(double q, double a, double b);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_TRUNCATED_NORMAL_H_
