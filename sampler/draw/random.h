// SPDX-License-Identifier: Apache-2.0
//
// File: random.h
//
// Draws points at random. Levels, choices and stepped values are equally
// likely, logarithmic ones uniform in the logarithm (Bergstra and Bengio,
// 2012). A rate with `freeze` is frozen in `frozen_share` of the draws.
//
// The default, kFrozenShare, is about the share of frozen in a typical list of
// levels, and what importance measures with.
#ifndef FROSTLINE_SAMPLER_DRAW_RANDOM_H_
#define FROSTLINE_SAMPLER_DRAW_RANDOM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/sampler.h"
#include "study/space.h"

namespace frostline::sampler {

// The line on which an ordered domain is drawn uniformly.
// Levels lie on it by their index, logarithmic domains by their logarithm;
// stepped values are cells one step wide, so that each has its share.

struct NumericRange {
  double lo = 0.0;
  double hi = 0.0;    // the highest on the step grid
  double step = 0.0;  // 0: continuous
  bool log = false;
  // The line ends half a step beyond the values.
  double box_lo = 0.0;
  double box_hi = 0.0;

  double ToBox(double value) const;
  // Returns the nearest value in the domain.
  double FromBox(double place) const;
};

// Returns the line of a domain; nothing for a categorical one. For a
// log-uniform one it is the part that is not frozen.
std::optional<NumericRange> NumericRangeOf(const Domain& domain);

inline constexpr double kFrozenShare = 0.2;

double DrawValue(const Domain& domain, double frozen_share, Rng& rng);

// Draws active parameters only, in the space's order.
Point DrawPoint(const Space& space, double frozen_share, Rng& rng);

absl::StatusOr<std::unique_ptr<Sampler>> MakeRandomSampler(
    const SamplerInput& input);

// Logarithms keep the standard normal accurate in far tails and narrow
// intervals, where probabilities underflow or cancel.

inline constexpr double kLogSqrtTwoPi = 0.91893853320467274178;

double LogNormalCdf(double x);

// Returns the x with ln P(X <= x) = y. REQUIRES: y <= 0.
double InverseLogNormalCdf(double y);

// REQUIRES: a <= b.
double LogNormalMass(double a, double b);

// Returns -infinity outside [a, b].
double TruncatedNormalLogPdf(double x, double a, double b);

// Returns the x below which a share q of the mass lies. REQUIRES: 0 <= q <= 1.
double TruncatedNormalPpf(double q, double a, double b);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_RANDOM_H_
