// SPDX-License-Identifier: Apache-2.0
//
// File: compat_normal.h
//
// truncated_normal.h is more accurate than this, but among equally good
// candidates the last bit decides which one Optuna proposes.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_NORMAL_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_NORMAL_H_

#include <vector>

namespace frostline::sampler {

// Returns ln P(a <= X <= b). REQUIRES: a < b.
double CompatLogMass(double a, double b);

double CompatLogPdf(double x);

struct CompatQuantile {
  double share = 0.0;  // of the mass in [a, b]
  double a = 0.0;
  double b = 0.0;
};

// Returns the x below which the share lies, refined together until the last is
// near enough.
std::vector<double> CompatPpf(const std::vector<CompatQuantile>& quantiles);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_NORMAL_H_
