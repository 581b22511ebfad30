// SPDX-License-Identifier: Apache-2.0
//
// File: targets.h
//
// Losses get mean 0 and variance 1: the better half keeps its distances, in
// units of its spread; the worse is compressed by a logarithm, so that a cliff,
// a diverged trial or 1e308 is merely bad. What a constraint measures is told
// by how far it is from the bound instead: asinh(v / s), which is about v / s
// near the bound, grows as a logarithm beyond it, and keeps the sign of v.
#ifndef FROSTLINE_SAMPLER_GP_TARGETS_H_
#define FROSTLINE_SAMPLER_GP_TARGETS_H_

#include <vector>

namespace frostline::sampler {

// An infinite loss is unknown and goes to the upper quartile. Equal losses are
// all 0. REQUIRES: none is NaN.
std::vector<double> TargetsOf(const std::vector<double>& losses);

struct ConstraintTargets {
  std::vector<double> targets;
  double bound = 0.0;  // a target above it is broken
};

// Each of `values` is what was measured less its bound. The scale is the median
// distance of those that keep the bound or of those that break it, whichever is
// nearer, but at least a hundredth of all distances' median. An infinite one is
// twice as far as the furthest of its side. REQUIRES: none is NaN.
ConstraintTargets ConstraintTargetsOf(const std::vector<double>& values);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_TARGETS_H_
