// SPDX-License-Identifier: Apache-2.0
//
// File: compat_kernels.h
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_KERNELS_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_KERNELS_H_

#include <cstddef>
#include <vector>

#include "sampler/draw/numeric_range.h"

namespace frostline::sampler {

// A kernel is on the line of NumericRange, before it is cut to the box.
struct NumericKernel {
  double mu = 0.0;
  double sigma = 0.0;
};

enum class KernelWidth {
  kNeighbours,  // the gap to the farther neighbour
  kShared,      // 0.2 n^(-1/(d+4)) of the box: v4 with multivariate
};

// The prior comes last. `together` is d above.
std::vector<NumericKernel> FitCompatKernels(const NumericRange& range,
                                            const std::vector<double>& observed,
                                            KernelWidth width,
                                            std::size_t together);

// The oldest come first: the newest 25 weigh 1, older ones less. They are not
// normalised, and lack the prior.
std::vector<double> CompatWeights(std::size_t observations);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_KERNELS_H_
