// SPDX-License-Identifier: Apache-2.0
//
// File: joint_effect.h
//
// All axes of a set S have this only together in one tree:
//
//   f_S = sum over leaves of v m prod_s (1[x_s in side_s] / m_s - 1)
//
// with a leaf's value v and mass m, and m_s that of its side along s in S. Its
// variance is a sum over pairs of leaves split on all of S.
#ifndef FROSTLINE_IMPORTANCE_FOREST_JOINT_EFFECT_H_
#define FROSTLINE_IMPORTANCE_FOREST_JOINT_EFFECT_H_

#include <cstddef>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/forest/tree_box.h"

namespace frostline::importance {

// `cells` are the tree's. Costs O(leaves² · axes of the subset).
double JointVarianceOf(const Tree& tree, const TreeCells& cells,
                       const std::vector<std::size_t>& subset);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_JOINT_EFFECT_H_
