// SPDX-License-Identifier: Apache-2.0
//
// File: targets.h
//
// Losses get mean 0 and variance 1: the better half keeps its distances, in
// units of its spread; the worse is compressed by a logarithm, so that a cliff,
// a diverged trial or 1e308 is merely bad.
#ifndef FROSTLINE_SAMPLER_GP_TARGETS_H_
#define FROSTLINE_SAMPLER_GP_TARGETS_H_

#include <vector>

namespace frostline::sampler {

// An infinite loss is unknown and goes to the upper quartile. Equal losses are
// all 0. REQUIRES: none is NaN.
std::vector<double> TargetsOf(const std::vector<double>& losses);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_TARGETS_H_
