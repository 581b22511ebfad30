// SPDX-License-Identifier: Apache-2.0
//
// File: subset_effect.h
//
// What any set S of axes explains of one tree's variance, exactly:
//
//   Var E[f | x_S] = E f(x) f(x') - (E f)^2   (Sobol, 1993)
//
// where x' shares the axes of S with x and nothing else: a sum over pairs of
// boxes that meet along S, found by walking the tree with both points at once.
// Branches that S does not split are one box, and no grid is ever made.
#ifndef FROSTLINE_IMPORTANCE_FOREST_SUBSET_EFFECT_H_
#define FROSTLINE_IMPORTANCE_FOREST_SUBSET_EFFECT_H_

#include <cstddef>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/measure/measured_axis.h"
#include "importance/measure/named_subsets.h"

namespace frostline::importance {

// In the tree's own variance. `subset`: different axes, at most kMaxSubset;
// empty: nothing is explained. Costs O(leaves² · axes of the subset).
SubsetShare SubsetVarianceOf(const Tree& tree,
                             const std::vector<MeasuredAxis>& axes,
                             const std::vector<std::size_t>& subset);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_SUBSET_EFFECT_H_
