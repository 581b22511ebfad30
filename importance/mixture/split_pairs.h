// SPDX-License-Identifier: Apache-2.0
//
// File: split_pairs.h
//
// Which pairs of axes are looked at in a forest. A tree of thousands of leaves
// splits on hundreds of axes, most of them for noise, and a table for each two
// of these would be gigabytes: so pairs are taken among the axes that the trees
// have most of their variance from.
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

// Pairs are taken among so many axes at most: as many as level effects pair.
inline constexpr std::size_t kMaxForestPairAxes = 64;

// By axis: the variance over the space that the splits on it take away, of all
// trees together; 0: no tree splits on it.
std::vector<double> FindSplitGains(const std::vector<FineAxis>& axes,
                                   std::span<const Tree> trees);

// Every pair of the axes of largest gain, and those of `always`; each once, in
// order.
std::vector<AxisPair> ChoosePairs(const std::vector<double>& gains,
                                  const std::vector<AxisPair>& always);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_SPLIT_PAIRS_H_
