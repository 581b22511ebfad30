// SPDX-License-Identifier: Apache-2.0
//
// File: numpy_sort.h
//
// The order in which NumPy 2 sorts on x86-64 with AVX2. Observations of equal
// value get kernels of different widths by it, so without it no run of Optuna
// over integers can be reproduced.
#ifndef FROSTLINE_SAMPLER_OPTUNA_NUMPY_SORT_H_
#define FROSTLINE_SAMPLER_OPTUNA_NUMPY_SORT_H_

#include <cstddef>
#include <vector>

namespace frostline::sampler {

// numpy.argsort: indices from low to high. Not stable: where equal numbers end
// up is that of a bitonic network for up to 256 of them, and of a quicksort in
// vectors of four above. With AVX-512 NumPy takes vectors of eight there, so
// above 256 equal numbers may come in another order. REQUIRES: no NaN.
std::vector<std::size_t> NumpyArgSort(const std::vector<double>& numbers);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_NUMPY_SORT_H_
