// SPDX-License-Identifier: Apache-2.0
//
// File: nonnegative_fit.h
//
// Least squares with weights of at least 0: what costs time never saves any.
// One weight after the other goes to its best place, or to 0, while the others
// stand (coordinate descent: Franc, Hlavac and Navara, CAIP 2005), which ends
// at the only minimum there is, up to columns that are the same.
//
//   minimise sum over rows (w · row - 1)² + a little w², w >= 0
#ifndef FROSTLINE_SAMPLER_COST_NONNEGATIVE_FIT_H_
#define FROSTLINE_SAMPLER_COST_NONNEGATIVE_FIT_H_

#include <array>
#include <cstddef>
#include <span>

namespace frostline::sampler {

// Returns the weights by which each row is as near to 1 as can be.
template <std::size_t N>
std::array<double, N> FitToOne(std::span<const std::array<double, N>> rows) {
  constexpr int kSweeps = 2'000;
  constexpr double kRidge = 1e-4;  // of columns that were put to one scale
  std::array<std::array<double, N>, N> products{};
  std::array<double, N> sums{}, scales{}, weights{};
  for (const std::array<double, N>& row : rows) {
    for (std::size_t i = 0; i < N; ++i) {
      sums[i] += row[i];
      for (std::size_t j = 0; j < N; ++j) products[i][j] += row[i] * row[j];
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    scales[i] = products[i][i] * (1.0 + kRidge);
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double moved = 0.0;  // what it changes the fit by, at most
    for (std::size_t i = 0; i < N; ++i) {
      if (!(scales[i] > 0.0)) continue;
      double slope = sums[i] + products[i][i] * weights[i];
      for (std::size_t j = 0; j < N; ++j) slope -= products[i][j] * weights[j];
      const double weight = slope > 0.0 ? slope / scales[i] : 0.0;
      const double step = weight - weights[i];
      moved += step * step * scales[i];
      weights[i] = weight;
    }
    if (moved <= 1e-18 * static_cast<double>(rows.size())) break;
  }
  return weights;
}

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_COST_NONNEGATIVE_FIT_H_
