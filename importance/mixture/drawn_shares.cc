// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/drawn_shares.h"

#include <algorithm>
#include <cstddef>

namespace frostline::importance {
namespace {

void AddTo(std::vector<double>& sum, const std::vector<double>& one,
           double weight) {
  sum.resize(one.size(), 0.0);
  for (std::size_t i = 0; i < one.size(); ++i) sum[i] += weight * one[i];
}

void AddShares(MixtureShares& sum, const MixtureShares& one, double weight) {
  AddTo(sum.main, one.main, weight);
  AddTo(sum.total, one.total, weight);
  AddTo(sum.pairs, one.pairs, weight);
  AddTo(sum.groups, one.groups, weight);
  sum.subsets.resize(one.subsets.size());
  for (std::size_t s = 0; s < one.subsets.size(); ++s) {
    sum.subsets[s].together += weight * one.subsets[s].together;
    sum.subsets[s].beyond += weight * one.subsets[s].beyond;
  }
  sum.unexplained += weight * one.unexplained;
  sum.variance += weight * one.variance;
}

}  // namespace

MixtureShares MeanOf(const std::vector<MixtureShares>& draws) {
  MixtureShares mean;
  for (const MixtureShares& one : draws) {
    AddShares(mean, one, 1.0 / static_cast<double>(draws.size()));
  }
  // A sum of many parts may come out above 1 by rounding.
  mean.unexplained = std::min(mean.unexplained, 1.0);
  for (double& one : mean.main) one = std::min(one, 1.0);
  for (double& one : mean.total) one = std::min(one, 1.0);
  for (double& one : mean.groups) one = std::min(one, 1.0);
  for (SubsetShare& one : mean.subsets) {
    one.together = std::min(one.together, 1.0);
  }
  return mean;
}

DrawnShares Blend(DrawnShares first, const DrawnShares& second, double weight) {
  if (weight == 0.0) return first;
  MixtureShares both;
  AddShares(both, first.shares, 1.0 - weight);
  AddShares(both, second.shares, weight);
  first.shares = std::move(both);
  double due = 0.0;
  std::size_t next = 0;
  for (MixtureShares& one : first.draws) {
    due += weight;
    if (due < 1.0) continue;
    due -= 1.0;
    one = second.draws[next++ % second.draws.size()];
  }
  return first;
}

}  // namespace frostline::importance
