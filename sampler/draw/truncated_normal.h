// SPDX-License-Identifier: Apache-2.0
//
// File: truncated_normal.h
//
// The standard normal cut to [a, b], in logarithms, accurate far out in the
// tails and for very narrow intervals, where probabilities themselves would
// underflow or cancel.
#ifndef FROSTLINE_SAMPLER_DRAW_TRUNCATED_NORMAL_H_
#define FROSTLINE_SAMPLER_DRAW_TRUNCATED_NORMAL_H_

namespace frostline::sampler {

inline constexpr double kLogSqrtTwoPi = 0.91893853320467274178;

// ln P(X <= x) for a standard normal X.
double LogNormalCdf(double x);

// The x with ln P(X <= x) = y. REQUIRES: y <= 0.
double InverseLogNormalCdf(double y);

// ln P(a <= X <= b). REQUIRES: a <= b.
double LogNormalMass(double a, double b);

// ln of the density at x; -infinity outside [a, b].
double TruncatedNormalLogPdf(double x, double a, double b);

// The x in [a, b] below which a share q of the mass lies. REQUIRES: 0 <= q
// <= 1.
double TruncatedNormalPpf(double q, double a, double b);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_TRUNCATED_NORMAL_H_
