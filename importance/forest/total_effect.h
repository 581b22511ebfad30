// SPDX-License-Identifier: Apache-2.0
//
// File: total_effect.h
//
// What of a tree's variance would be left if one axis could not be seen,
// exactly: E[f(x) f(x')] where x' differs from x in that axis alone. The
// tree is walked by both at once; they part only at splits on the axis, so few
// pairs of leaves are met.
#ifndef FROSTLINE_IMPORTANCE_FOREST_TOTAL_EFFECT_H_
#define FROSTLINE_IMPORTANCE_FOREST_TOTAL_EFFECT_H_

#include <cstddef>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/forest/tree_box.h"

namespace frostline {

// Var E[f | all but the axis]. `mass_of_node` has the masses of leaves, `mean`
// is that of the tree over the space.
double MomentWithoutAxis(const Tree& tree, const TreeCells& cells,
                         const std::vector<double>& mass_of_node, double mean,
                         std::size_t axis);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_FOREST_TOTAL_EFFECT_H_
