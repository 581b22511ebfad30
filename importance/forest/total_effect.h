// SPDX-License-Identifier: Apache-2.0
//
// File: total_effect.h
//
// With all interactions (Sobol, 1993) each axis explains exactly
//
//   T_i = E Var[f | all but x_i] = E (f(x) - f(x'))^2 / 2   (Jansen, 1999)
//
// where x' differs in axis i alone. They are in two leaves only if the node
// where the leaves' paths part splits on i: so a pair of leaves counts for one
// axis at most, and one walk finds all totals.
#ifndef FROSTLINE_IMPORTANCE_FOREST_TOTAL_EFFECT_H_
#define FROSTLINE_IMPORTANCE_FOREST_TOTAL_EFFECT_H_

#include <cstddef>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/forest/tree_box.h"

namespace frostline::importance {

// Answers by axis. `mean` is that of the tree over the space.
std::vector<double> TotalVariancesOf(const Tree& tree, const TreeCells& cells,
                                     double mean);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_TOTAL_EFFECT_H_
