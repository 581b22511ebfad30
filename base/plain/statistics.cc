// SPDX-License-Identifier: Apache-2.0
#include "base/plain/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace frostline {

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return QuantileOfSorted(values, q);
}

double QuantileOfSorted(const std::vector<double>& values, double q) {
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  // Two equal infinities have no difference to interpolate.
  if (values[below] == values[above]) return values[below];
  return values[below] +
         (place - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<double> MeanRanks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // NaN comes after all numbers: without a place of its own it breaks the
  // order.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] < values[b] ||
           (std::isnan(values[b]) && !std::isnan(values[a]));
  });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    for (end = begin + 1; end < order.size(); ++end) {
      if (values[order[end]] != values[order[begin]]) break;
    }
    for (std::size_t i = begin; i < end; ++i) {
      ranks[order[i]] = static_cast<double>(begin + end - 1) / 2.0;
    }
  }
  return ranks;
}

double RankCorrelation(const std::vector<double>& a,
                       const std::vector<double>& b) {
  const std::vector<double> x = MeanRanks(a);
  const std::vector<double> y = MeanRanks(b);
  const double mean = (static_cast<double>(x.size()) - 1.0) / 2.0;
  double xy = 0.0, xx = 0.0, yy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0.0 && yy > 0.0 ? xy / std::sqrt(xx * yy) : 0.0;
}

}  // namespace frostline
