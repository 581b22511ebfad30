// SPDX-License-Identifier: Apache-2.0
//
// File: tree_effects.h
//
// The mean of trees is decomposed, where forest/fanova.h has the mean of
// shares: what each tree has of its own draw is averaged out.
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
  // Goes by axis and code, and is orthogonal to the constant.
  std::vector<std::vector<double>> main;
  // Goes by code of the first, then the second, and is orthogonal to main
  // effects. Pairs split on no path are left out, as 0.
  std::map<AxisPair, std::vector<double>> pairs;
};

TreeEffects FindTreeEffects(const std::vector<FineAxis>& axes,
                            std::span<const Tree> trees,
                            const std::vector<AxisPair>& pairs);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_TREE_EFFECTS_H_
