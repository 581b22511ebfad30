// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/compat_kernels.h"

#include <algorithm>
#include <cmath>

#include "sampler/tpe/numpy_sort.h"

namespace frostline {

std::vector<NumericKernel> FitCompatKernels(const NumericRange& range,
                                            const std::vector<double>& observed,
                                            KernelWidth width,
                                            std::size_t together) {
  std::vector<double> places;
  places.reserve(observed.size());
  for (const double value : observed) places.push_back(range.ToBox(value));
  std::vector<NumericKernel> kernels =
      FitKernelsInOrder(range, places, NumpyArgSort(places));
  if (width == KernelWidth::kNeighbours) return kernels;
  const auto n = static_cast<double>(observed.size());
  const double box = range.box_hi - range.box_lo;
  const double shared =
      0.2 *
      std::pow(std::max(n, 1.0), -1.0 / (static_cast<double>(together) + 4.0)) *
      box;
  const double sigma = std::clamp(shared, box / std::min(100.0, n + 2.0), box);
  for (std::size_t k = 0; k < observed.size(); ++k) kernels[k].sigma = sigma;
  return kernels;
}

std::vector<double> CompatWeights(std::size_t observations) {
  constexpr std::size_t kRemembered = 25;
  std::vector<double> weights(observations, 1.0);
  if (observations <= kRemembered) return weights;
  const std::size_t old = observations - kRemembered;
  const double first = 1.0 / static_cast<double>(observations);
  if (old == 1) {
    weights[0] = first;
    return weights;
  }
  const double step = (1.0 - first) / static_cast<double>(old - 1);
  for (std::size_t i = 0; i + 1 < old; ++i) {
    weights[i] = static_cast<double>(i) * step + first;
  }
  return weights;
}

}  // namespace frostline
