// SPDX-License-Identifier: Apache-2.0
#include "tests/search/statistics.h"

#include <algorithm>
#include <cmath>

namespace frostline::test {

double ProbabilityNotGreater(const std::vector<double>& values,
                             const std::vector<double>& others) {
  std::vector<double> all = values;
  all.insert(all.end(), others.begin(), others.end());
  std::sort(all.begin(), all.end());
  const auto n = static_cast<double>(all.size());
  const auto n1 = static_cast<double>(values.size());
  const auto n2 = static_cast<double>(others.size());
  double wins = 0.0;
  for (const double value : values) {
    for (const double other : others) {
      wins += value > other ? 1.0 : value == other ? 0.5 : 0.0;
    }
  }
  double ties = 0.0;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::upper_bound(first, all.end(), *first);
    const auto t = static_cast<double>(last - first);
    ties += t * (t * t - 1.0);
    first = last;
  }
  const double variance = n1 * n2 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
  if (variance <= 0.0) return 1.0;
  const double z = (wins - n1 * n2 / 2.0 - 0.5) / std::sqrt(variance);
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

}  // namespace frostline::test
