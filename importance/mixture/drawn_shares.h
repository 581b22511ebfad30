// SPDX-License-Identifier: Apache-2.0
//
// File: drawn_shares.h
//
// Shares of a mixture with draws of them, and any number of theirs as an
// interval.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_DRAWN_SHARES_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_DRAWN_SHARES_H_

#include <utility>
#include <vector>

#include "importance/measure/statistics.h"
#include "importance/mixture/mixture_shares.h"
#include "importance/report/report.h"

namespace frostline::importance {

struct DrawnShares {
  MixtureShares shares;
  std::vector<MixtureShares> draws;  // empty: no intervals

  // Of the number that `pick` finds in shares. Draws are around what the trials
  // say, the value is drawn towards what is likely: so the ends are as they are
  // drawn, and reach at least the value.
  template <typename Pick>
  Interval IntervalOf(const Pick& pick) const {
    std::vector<double> values;
    values.reserve(draws.size());
    for (const MixtureShares& one : draws) values.push_back(pick(one));
    return IntervalOfDraws(pick(shares), std::move(values));
  }
};

// The mean of each number. REQUIRES: at least one.
MixtureShares MeanOf(const std::vector<MixtureShares>& draws);

// Shares of both, the second having the weight; as many draws as the first has.
DrawnShares Blend(DrawnShares first, const DrawnShares& second, double weight);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_DRAWN_SHARES_H_
