// SPDX-License-Identifier: Apache-2.0
//
// File: tree_effects.h
//
// The main effects and the pairs of the mean of some trees over the space:
// those of the mean, where forest/fanova.h has the mean of each tree's shares.
// What every tree has from its own draw of the trials is thus averaged out.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_TREE_EFFECTS_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_TREE_EFFECTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/mixture/fine_axis.h"

namespace frostline {

using AxisPair = std::pair<std::size_t, std::size_t>;  // rising
// An index into the codes of every fine axis.
using FinePoint = std::vector<std::uint16_t>;

struct TreeEffects {
  double mean = 0.0;
  // By axis, by code: orthogonal to the constant.
  std::vector<std::vector<double>> main;
  // By code of the first, then of the second: orthogonal to both main effects.
  // Pairs that no tree splits both of on one way down are left out: 0.
  std::map<AxisPair, std::vector<double>> pairs;
};

TreeEffects FindTreeEffects(const std::vector<FineAxis>& axes,
                            std::span<const Tree> trees, bool pairs);

// The mean prediction of the trees.
double PredictAt(const std::vector<FineAxis>& axes, std::span<const Tree> trees,
                 const FinePoint& point);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_TREE_EFFECTS_H_
