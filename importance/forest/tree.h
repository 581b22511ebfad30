// SPDX-License-Identifier: Apache-2.0
//
// File: tree.h
//
// A regression tree over codes (Breiman et al., 1984) sends rows left or right
// by one axis; a leaf has their mean.
//
//   axis 0, code <= 2 ? 0.1 : (axis 3, code in {0, 4} ? 0.5 : 0.9)
#ifndef FROSTLINE_IMPORTANCE_FOREST_TREE_H_
#define FROSTLINE_IMPORTANCE_FOREST_TREE_H_

#include <cstdint>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "importance/measure/dataset.h"

namespace frostline::importance {

struct TreeNode {
  int axis = -1;  // -1: a leaf
  // Codes up to the threshold go left; of an unordered axis those in goes_left.
  double threshold = 0.0;
  std::vector<bool> goes_left;
  int left = -1;
  int right = -1;
  double value = 0.0;  // of a leaf
};

// Children come after their parent, the root is first. It is never empty.
struct Tree {
  std::vector<TreeNode> nodes;

  double Predict(const Dataset& data, std::size_t row) const;
};

// Says by node whether it, or one below, splits on one of these.
std::vector<bool> SplitsOn(const Tree& tree,
                           const std::vector<std::size_t>& axes);

// Splits by least squares until a leaf's rows are alike; of equal splits a
// random one wins. Row r counts weights[r] times. Choices are split by mean
// target, the best of all subsets (Fisher, 1958). After a stop nothing is split
// any more. REQUIRES: a weight is above 0.
Tree FitTree(const Dataset& data, const std::vector<double>& targets,
             const std::vector<std::uint32_t>& weights, Rng& rng,
             const std::stop_token& stop = {});

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_TREE_H_
