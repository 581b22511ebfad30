// SPDX-License-Identifier: Apache-2.0
//
// File: numpy_sort.h
//
// NumPy 2 sorts so on x86-64 with AVX2, which gives equal observations kernels
// of different widths.
#ifndef FROSTLINE_SAMPLER_OPTUNA_NUMPY_SORT_H_
#define FROSTLINE_SAMPLER_OPTUNA_NUMPY_SORT_H_

#include <cstddef>
#include <vector>

namespace frostline::sampler {

// Is numpy.argsort, which is not stable: equal numbers come as from a bitonic
// network up to 256 of them, and as from a quicksort in vectors of four above
// (of eight with AVX-512, where the order may differ). REQUIRES: none is NaN.
std::vector<std::size_t> NumpyArgSort(const std::vector<double>& numbers);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_NUMPY_SORT_H_
