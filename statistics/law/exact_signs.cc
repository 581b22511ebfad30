// SPDX-License-Identifier: Apache-2.0
#include "statistics/law/exact_signs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "statistics/law/distributions.h"

namespace frostline::statistics {
namespace {

constexpr std::int64_t kMostCounted = 10'000;

// The law of the positive part: entry i is the probability that those of
// positive sign sum up to i.
std::vector<double> LawOfPositives(std::span<const std::int64_t> differences,
                                   std::size_t total) {
  std::vector<double> law(total + 1, 0.0);
  law[0] = 1.0;
  std::size_t reached = 0;
  for (const std::int64_t difference : differences) {
    const auto size = static_cast<std::size_t>(std::abs(difference));
    if (size == 0) continue;
    reached += size;
    for (std::size_t i = reached + 1; i-- > 0;) {
      law[i] = 0.5 * law[i] + (i >= size ? 0.5 * law[i - size] : 0.0);
    }
  }
  return law;
}

}  // namespace

double McNemarP(std::int64_t gained, std::int64_t lost) {
  return std::min(1.0, 2.0 * CoinAtMost(std::min(gained, lost), gained + lost));
}

double SignsP(std::span<const std::int64_t> differences) {
  std::int64_t gained = 0, lost = 0, largest = 0;
  double squares = 0.0;
  for (const std::int64_t difference : differences) {
    (difference > 0 ? gained : lost) += std::abs(difference);
    largest = std::max<std::int64_t>(largest, std::abs(difference));
    squares +=
        static_cast<double>(difference) * static_cast<double>(difference);
  }
  if (largest <= 1) return McNemarP(gained, lost);
  const std::int64_t total = gained + lost;
  const std::int64_t apart = std::abs(gained - lost);
  if (apart == 0) return 1.0;
  if (total > kMostCounted) {
    const double far = static_cast<double>(apart - 1) / std::sqrt(squares);
    return std::min(1.0, 2.0 * NormalBelow(-far));
  }
  const std::vector<double> law =
      LawOfPositives(differences, static_cast<std::size_t>(total));
  double p = 0.0;
  for (std::int64_t i = 0; i <= total; ++i) {
    if (std::abs(2 * i - total) >= apart) p += law[static_cast<std::size_t>(i)];
  }
  return std::min(1.0, p);
}

}  // namespace frostline::statistics
