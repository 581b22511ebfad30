// SPDX-License-Identifier: Apache-2.0
//
// File: tree_effects.h
//
// The main effects and the pairs of the mean of some trees over the space:
// those of the mean, where forest/fanova.h has the mean of each tree's shares.
// What every tree has from its own draw of the trials is thus averaged out.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_TREE_EFFECTS_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_TREE_EFFECTS_H_

#include <map>
#include <span>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/mixture/fine_axis.h"
#include "importance/mixture/split_pairs.h"

namespace frostline::importance {

struct TreeEffects {
  double mean = 0.0;
  // By axis, by code: orthogonal to the constant.
  std::vector<std::vector<double>> main;
  // By code of the first, then of the second: orthogonal to both main effects.
  // Of those that were asked for; pairs that no tree splits both of on one way
  // down are left out: 0.
  std::map<AxisPair, std::vector<double>> pairs;
};

TreeEffects FindTreeEffects(const std::vector<FineAxis>& axes,
                            std::span<const Tree> trees,
                            const std::vector<AxisPair>& pairs);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_TREE_EFFECTS_H_
