// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/numpy_sum.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace frostline::sampler {

double NumpySum(std::span<const double> numbers) {
  constexpr std::size_t kWays = 8, kBlock = 128;
  const std::size_t n = numbers.size();
  if (n < kWays) {
    return std::accumulate(numbers.begin(), numbers.end(), 0.0);
  }
  if (n > kBlock) {
    const std::size_t half = n / 2 - n / 2 % kWays;
    return NumpySum(numbers.first(half)) + NumpySum(numbers.subspan(half));
  }
  std::array<double, kWays> way;
  std::copy_n(numbers.begin(), kWays, way.begin());
  const std::size_t even = n - n % kWays;
  for (std::size_t i = kWays; i < even; ++i) way[i % kWays] += numbers[i];
  double sum = ((way[0] + way[1]) + (way[2] + way[3])) +
               ((way[4] + way[5]) + (way[6] + way[7]));
  for (std::size_t i = even; i < n; ++i) sum += numbers[i];
  return sum;
}

}  // namespace frostline::sampler
