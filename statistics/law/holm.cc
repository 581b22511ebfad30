// SPDX-License-Identifier: Apache-2.0
#include "statistics/law/holm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace frostline::statistics {

std::vector<double> HolmAdjusted(const std::vector<double>& p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted = p;
  double so_far = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    so_far = std::max(so_far, std::min(1.0, left * p[order[i]]));
    adjusted[order[i]] = so_far;
  }
  return adjusted;
}

}  // namespace frostline::statistics
