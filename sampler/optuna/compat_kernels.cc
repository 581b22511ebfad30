// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat_kernels.h"

#include <algorithm>
#include <cmath>

#include "sampler/optuna/numpy_sort.h"

namespace frostline::sampler {
namespace {

// A kernel reaches to the farther of its neighbours, the box's ends being
// neighbours too, unless it is the outermost of several. Never narrower than
// a share of the box that shrinks with the number of kernels ("magic clip").
double WidthOf(const NumericRange& range, const std::vector<double>& sorted,
               std::size_t i) {
  const std::size_t n = sorted.size();
  const double left =
      i > 0 ? sorted[i] - sorted[i - 1] : sorted[i] - range.box_lo;
  const double right =
      i + 1 < n ? sorted[i + 1] - sorted[i] : range.box_hi - sorted[i];
  double sigma = std::max(left, right);
  if (n >= 2 && i == 0) sigma = right;
  if (n >= 2 && i + 1 == n) sigma = left;
  const double width = range.box_hi - range.box_lo;
  return std::clamp(
      sigma, width / std::min(100.0, 2.0 + static_cast<double>(n)), width);
}

// `order`: indices of the places from low to high.
std::vector<NumericKernel> FitInOrder(const NumericRange& range,
                                      const std::vector<double>& places,
                                      const std::vector<std::size_t>& order) {
  const std::size_t n = places.size();
  std::vector<double> sorted;
  sorted.reserve(n);
  for (const std::size_t k : order) sorted.push_back(places[k]);
  std::vector<NumericKernel> kernels(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    kernels[order[i]] = {sorted[i], WidthOf(range, sorted, i)};
  }
  kernels[n] = {0.5 * (range.box_lo + range.box_hi),
                range.box_hi - range.box_lo};
  return kernels;
}

}  // namespace

std::vector<NumericKernel> FitCompatKernels(const NumericRange& range,
                                            const std::vector<double>& observed,
                                            KernelWidth width,
                                            std::size_t together) {
  std::vector<double> places;
  places.reserve(observed.size());
  for (const double value : observed) places.push_back(range.ToBox(value));
  std::vector<NumericKernel> kernels =
      FitInOrder(range, places, NumpyArgSort(places));
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

}  // namespace frostline::sampler
