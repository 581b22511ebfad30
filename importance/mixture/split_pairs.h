// SPDX-License-Identifier: Apache-2.0
//
// File: split_pairs.h
//
// Thousands of leaves split on hundreds of axes, most for noise, and tables for
// all would be gigabytes, so axes with most of the trees' variance are paired.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_SPLIT_PAIRS_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_SPLIT_PAIRS_H_

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/mixture/fine_axis.h"

namespace frostline::importance {

using AxisPair = std::pair<std::size_t, std::size_t>;  // rising

inline constexpr std::size_t kMaxForestPairAxes = 64;  // as level effects

// Returns by axis the variance over the space that its splits take away.
std::vector<double> FindSplitGains(const std::vector<FineAxis>& axes,
                                   std::span<const Tree> trees);

// Pairs the axes of largest gain, and adds `always`; each comes once, in order.
std::vector<AxisPair> ChoosePairs(const std::vector<double>& gains,
                                  const std::vector<AxisPair>& always);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_SPLIT_PAIRS_H_
