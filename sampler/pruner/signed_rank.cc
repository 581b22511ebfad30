// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace frostline::sampler {
namespace {

constexpr std::size_t kExactUpTo = 50;
constexpr std::size_t kExactWithTiesUpTo = 13;

// Ranks are doubled, so that the mean of two is a whole number.
struct Ranks {
  std::vector<std::size_t> doubled;  // as the differences
  double ties = 0.0;                 // sum of t^3 - t over groups of t
};

Ranks RankBySize(const std::vector<double>& differences) {
  const std::size_t count = differences.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t i) { return std::fabs(differences[i]); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return size(a) < size(b); });
  Ranks ranks;
  ranks.doubled.resize(count);
  for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && size(order[end]) == size(order[begin])) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      ranks.doubled[order[i]] = begin + 1 + end;
    }
    const auto tied = static_cast<double>(end - begin);
    ranks.ties += tied * tied * tied - tied;
  }
  return ranks;
}

// Of the sums over all choices of signs, the share at or above `sum`.
double ShareAtOrAbove(const std::vector<std::size_t>& ranks, std::size_t sum) {
  const std::size_t most =
      std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<double> probability(most + 1, 0.0);
  probability[0] = 1.0;
  for (const std::size_t rank : ranks) {
    for (std::size_t s = most + 1; s-- > 0;) {
      probability[s] =
          0.5 * (probability[s] + (s >= rank ? probability[s - rank] : 0.0));
    }
  }
  double share = 0.0;
  for (std::size_t s = most + 1; s-- > sum;) share += probability[s];
  return share;
}

}  // namespace

double SignedRankProbability(const std::vector<double>& differences) {
  const Ranks ranks = RankBySize(differences);
  std::vector<std::size_t> signed_ranks;  // of what is not zero
  std::size_t positive = 0;
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (differences[i] == 0.0) {
      zeros += ranks.doubled[i];
      continue;
    }
    signed_ranks.push_back(ranks.doubled[i]);
    if (differences[i] > 0.0) positive += ranks.doubled[i];
  }
  const bool plain = ranks.ties == 0.0 && zeros == 0;
  if (differences.size() <= (plain ? kExactUpTo : kExactWithTiesUpTo)) {
    return ShareAtOrAbove(signed_ranks, positive);
  }
  const auto n = static_cast<double>(differences.size());
  const double sum =
      static_cast<double>(positive) / 2.0 + static_cast<double>(zeros) / 4.0;
  const double deviation =
      std::sqrt((n * (n + 1.0) * (2.0 * n + 1.0) - ranks.ties / 2.0) / 24.0);
  const double z = (sum - n * (n + 1.0) * 0.25) / deviation;
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

}  // namespace frostline::sampler
