// SPDX-License-Identifier: Apache-2.0
//
// File: targets.h
//
// Losses as a Gaussian process likes them. What matters is the better half, so
// that keeps its distances, in units of its own spread; the worse half is
// compressed by a logarithm, so that a cliff, a diverged trial or 1e308 is
// merely bad. Mean 0 and variance 1 in the end.
#ifndef FROSTLINE_SAMPLER_GP_TARGETS_H_
#define FROSTLINE_SAMPLER_GP_TARGETS_H_

#include <vector>

namespace frostline::sampler {

// An infinite loss is one that is not known, of a trial that was pruned before
// it reported: it goes to the upper quartile. All equal: all 0. No NaN.
std::vector<double> TargetsOf(const std::vector<double>& losses);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_TARGETS_H_
