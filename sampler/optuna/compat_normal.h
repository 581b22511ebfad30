// SPDX-License-Identifier: Apache-2.0
//
// File: compat_normal.h
//
// The truncated standard normal computed as Optuna does, rounding by rounding.
// truncated_normal.h is more accurate, but far from all observations every
// candidate has the prior's ratio of densities, and on a step grid many are
// equally good: then the last bit decides which one Optuna proposes.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_NORMAL_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_NORMAL_H_

#include <vector>

namespace frostline::sampler {

// ln P(a <= X <= b). REQUIRES: a < b.
double CompatLogMass(double a, double b);

// ln of the normal density, not cut.
double CompatLogPdf(double x);

struct CompatQuantile {
  double share = 0.0;  // of the mass in [a, b]
  double a = 0.0;
  double b = 0.0;
};

// The x in [a, b] below which the share lies, for all at once: they are refined
// until the last of them is near enough.
std::vector<double> CompatPpf(const std::vector<CompatQuantile>& quantiles);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_NORMAL_H_
