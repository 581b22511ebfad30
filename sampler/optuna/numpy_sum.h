// SPDX-License-Identifier: Apache-2.0
//
// File: numpy_sum.h
//
// The last bit of a sum often decides which of equally good candidates Optuna
// proposes.
#ifndef FROSTLINE_SAMPLER_OPTUNA_NUMPY_SUM_H_
#define FROSTLINE_SAMPLER_OPTUNA_NUMPY_SUM_H_

#include <span>

namespace frostline::sampler {

// Is numpy.sum of a contiguous array, which adds by halves, blocks of 128 in
// eight lanes.
double NumpySum(std::span<const double> numbers);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_NUMPY_SUM_H_
