// SPDX-License-Identifier: Apache-2.0
//
// File: numpy_sort.h
//
// The order in which NumPy 2 sorts on x86-64 with AVX2, by which equal
// observations get kernels of different widths.
#ifndef FROSTLINE_SAMPLER_OPTUNA_NUMPY_SORT_H_
#define FROSTLINE_SAMPLER_OPTUNA_NUMPY_SORT_H_

#include <cstddef>
#include <vector>

namespace frostline::sampler {

// numpy.argsort. Not stable: equal numbers come as from a bitonic network up to
// 256 of them, and as from a quicksort in vectors of four above (of eight with
// AVX-512, where the order may differ). REQUIRES: no NaN.
std::vector<std::size_t> NumpyArgSort(const std::vector<double>& numbers);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_NUMPY_SORT_H_
