// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/tree_prediction.h"

#include <algorithm>

namespace frostline::importance {

double PredictAt(const std::vector<FineAxis>& axes, const Tree& tree,
                 const FinePoint& point, std::vector<std::size_t>* way) {
  std::size_t at = 0;
  while (tree.nodes[at].axis >= 0) {
    const TreeNode& node = tree.nodes[at];
    const auto axis = static_cast<std::size_t>(node.axis);
    if (way != nullptr &&
        std::find(way->begin(), way->end(), axis) == way->end()) {
      way->push_back(axis);
    }
    at = static_cast<std::size_t>(
        axes[axis].GoesLeft(node, point[axis]) ? node.left : node.right);
  }
  return tree.nodes[at].value;
}

double PredictAt(const std::vector<FineAxis>& axes, std::span<const Tree> trees,
                 const FinePoint& point) {
  double sum = 0.0;
  for (const Tree& tree : trees) sum += PredictAt(axes, tree, point);
  return sum / static_cast<double>(trees.size());
}

}  // namespace frostline::importance
