// SPDX-License-Identifier: Apache-2.0
//
// File: drawn_shares.h
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_DRAWN_SHARES_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_DRAWN_SHARES_H_

#include <utility>
#include <vector>

#include "importance/measure/numbers.h"
#include "importance/mixture/mixture_shares.h"
#include "importance/report.h"

namespace frostline::importance {

struct DrawnShares {
  MixtureShares shares;
  std::vector<MixtureShares> draws;  // empty: no intervals

  // Draws lie around what trials say, the value nearer to what is likely: ends
  // are as drawn, and reach the value.
  template <typename Pick>
  Interval IntervalOf(const Pick& pick) const {
    std::vector<double> values;
    values.reserve(draws.size());
    for (const MixtureShares& one : draws) values.push_back(pick(one));
    return IntervalOfDraws(pick(shares), std::move(values));
  }
};

// REQUIRES: there is a draw.
MixtureShares MeanOf(const std::vector<MixtureShares>& draws);

// Gives the second that `weight`, and as many draws as the first.
DrawnShares Blend(DrawnShares first, const DrawnShares& second, double weight);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_DRAWN_SHARES_H_
