// SPDX-License-Identifier: Apache-2.0
//
// File: subset_effect.h
//
// A set S of axes explains exactly this of one tree's variance:
//
//   Var E[f | x_S] = E f(x) f(x') - (E f)^2   (Sobol, 1993)
//
// where x' shares the axes of S alone with x: a sum over pairs of boxes that
// meet along S, on one walk with both points. Branches not split on S are one
// box.
#ifndef FROSTLINE_IMPORTANCE_FOREST_SUBSET_EFFECT_H_
#define FROSTLINE_IMPORTANCE_FOREST_SUBSET_EFFECT_H_

#include <cstddef>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/measure/measured_axis.h"
#include "importance/measure/named_subsets.h"

namespace frostline::importance {

// Answers in the tree's variance. `subset` has different axes, at most
// kMaxSubset. Costs O(leaves² · axes of the subset).
SubsetShare SubsetVarianceOf(const Tree& tree,
                             const std::vector<MeasuredAxis>& axes,
                             const std::vector<std::size_t>& subset);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_SUBSET_EFFECT_H_
