// SPDX-License-Identifier: Apache-2.0
//
// File: joint_effect.h
//
// The effect of one tree that only all axes of a set S have together:
//
//   f_S = sum over leaves of v m prod over s in S of (1[x_s in side_s] / m_s -
//   1)
//
// with v a leaf's value, m its mass and m_s that of its side along s. Its
// variance is a sum over pairs of leaves that are split on all of S.
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
