// SPDX-License-Identifier: Apache-2.0
#include "importance/ranking/part_counts.h"

#include <algorithm>

namespace frostline::importance {
namespace {

// Rows times parameters of all parts together, a half of it for beginnings, and
// times the trees of one that has all trials. Level effects go through some
// million in a second.
constexpr double kMostOfParts = 3e7;
constexpr double kMostOfTrees = 8e7;

// Of what is wanted as much as there may be.
int Bound(double most, int wanted, int least) {
  if (most >= wanted) return wanted;
  return std::max(static_cast<int>(most), std::min(wanted, least));
}

}  // namespace

PartCounts BoundParts(std::size_t trials, std::size_t parameters,
                      const PartCounts& wanted) {
  const double all =
      static_cast<double>(trials) * static_cast<double>(parameters);
  const double half = kMostOfParts / 2.0 / all;
  PartCounts counts;
  // Two halves are as much as all; beginnings are half as much on the mean, and
  // the first and the last of them are not among the work.
  counts.halvings = Bound(half, wanted.halvings, kLeastParts.halvings);
  counts.points = Bound(2.0 * half + 2.0, wanted.points, kLeastParts.points);
  counts.trees = Bound(kMostOfTrees / all, wanted.trees, kLeastParts.trees);
  return counts;
}

}  // namespace frostline::importance
