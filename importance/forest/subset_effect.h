// SPDX-License-Identifier: Apache-2.0
//
// File: subset_effect.h
//
// What any set of axes explains of one tree's variance, exactly. With x' a
// point that shares the axes of S with x and nothing else, Var E[f | x_S] is
// E f(x) f(x') less the mean's square (Sobol, 1993): a sum over pairs of boxes
// that meet along S, found by walking the tree with both points at once.
// Branches that S does not split are one box, and no grid is ever made.
#ifndef FROSTLINE_IMPORTANCE_FOREST_SUBSET_EFFECT_H_
#define FROSTLINE_IMPORTANCE_FOREST_SUBSET_EFFECT_H_

#include <cstddef>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/measured_axis.h"

namespace frostline {

// Each axis in it doubles the work for what they explain only together.
inline constexpr std::size_t kMaxSubset = 8;

struct SubsetVariance {
  double together = 0.0;  // Var E[f | x_S]: with all effects within S
  // The effect that has all of S and is in no smaller set: `together` less the
  // effects of all of its subsets (Hutter et al., 2014, eq. 7).
  double beyond = 0.0;
};

// `subset`: different axes, at most kMaxSubset; empty: nothing is explained.
SubsetVariance SubsetVarianceOf(const Tree& tree,
                                const std::vector<MeasuredAxis>& axes,
                                const std::vector<std::size_t>& subset);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_FOREST_SUBSET_EFFECT_H_
