// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/total_effect.h"

#include <utility>

namespace frostline {
namespace {

class PairWalk {
 public:
  PairWalk(const Tree& tree, const TreeCells& cells,
           const std::vector<double>& mass_of_node, double mean,
           std::size_t axis)
      : tree_(tree),
        mean_(mean),
        axis_(axis),
        shared_(tree, cells),
        own_mass_(tree.nodes.size(), 0.0),
        squares_(tree.nodes.size(), 0.0),
        splits_axis_(tree.nodes.size(), false) {
    TreeBox box(tree, cells);
    FillOwnMass(0, box);
    // Children come after their parents, so backwards is upwards.
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
      const TreeNode& node = tree.nodes[i];
      if (node.axis < 0) {
        const double value = node.value - mean;
        squares_[i] = mass_of_node[i] * value * value;
        continue;
      }
      const auto left = static_cast<std::size_t>(node.left);
      const auto right = static_cast<std::size_t>(node.right);
      squares_[i] = squares_[left] + squares_[right];
      splits_axis_[i] =
          IsOnAxis(node) || splits_axis_[left] || splits_axis_[right];
    }
  }

  double Run() { return Together(0, 1.0); }

 private:
  bool IsOnAxis(const TreeNode& node) const {
    return node.axis == static_cast<int>(axis_);
  }

  // The mass along the axis of every node's box.
  void FillOwnMass(std::size_t node, TreeBox& box) {
    own_mass_[node] = box.mass(axis_);
    const TreeNode& here = tree_.nodes[node];
    if (here.axis < 0) return;
    for (const bool left : {true, false}) {
      const auto child =
          static_cast<std::size_t>(left ? here.left : here.right);
      if (!IsOnAxis(here)) {
        FillOwnMass(child, box);
        continue;
      }
      TreeBox::Side side = box.Enter(node, left);
      FillOwnMass(child, box);
      box.Restore(node, std::move(side));
    }
  }

  // Calls visit(child, mass) for the children of `node` that the shared box
  // reaches; `mass` is the box's along all axes but ours.
  template <typename Visit>
  double EnterChildren(std::size_t node, double mass, const Visit& visit) {
    const TreeNode& here = tree_.nodes[node];
    const double whole = shared_.mass(static_cast<std::size_t>(here.axis));
    double sum = 0.0;
    for (const bool left : {true, false}) {
      TreeBox::Side side = shared_.Enter(node, left);
      const double part = shared_.mass(static_cast<std::size_t>(here.axis));
      if (part > 0.0) {
        sum += visit(static_cast<std::size_t>(left ? here.left : here.right),
                     mass * (part / whole));
      }
      shared_.Restore(node, std::move(side));
    }
    return sum;
  }

  // Both points are in the same node, whose box is the shared one.
  double Together(std::size_t node, double mass) {
    // Its leaves' masses count the axis once; two points count it twice.
    if (!splits_axis_[node]) return own_mass_[node] * squares_[node];
    const TreeNode& here = tree_.nodes[node];
    if (!IsOnAxis(here)) {
      return EnterChildren(node, mass, [this](std::size_t child, double part) {
        return Together(child, part);
      });
    }
    const auto left = static_cast<std::size_t>(here.left);
    const auto right = static_cast<std::size_t>(here.right);
    return Together(left, mass) + Together(right, mass) +
           2.0 * Apart(left, right, mass);
  }

  // They have parted: one is in `a`, the other in `b`.
  double Apart(std::size_t a, std::size_t b, double mass) {
    const TreeNode& node = tree_.nodes[a];
    if (node.axis < 0 && tree_.nodes[b].axis < 0) {
      return mass * own_mass_[a] * (node.value - mean_) * own_mass_[b] *
             (tree_.nodes[b].value - mean_);
    }
    // What is asked first does not matter: the sides are symmetric.
    if (node.axis < 0) return Apart(b, a, mass);
    if (IsOnAxis(node)) {
      return Apart(static_cast<std::size_t>(node.left), b, mass) +
             Apart(static_cast<std::size_t>(node.right), b, mass);
    }
    return EnterChildren(a, mass, [this, b](std::size_t child, double part) {
      return Apart(child, b, part);
    });
  }

  const Tree& tree_;
  double mean_;
  std::size_t axis_;
  TreeBox shared_;  // along all axes but ours
  std::vector<double> own_mass_;
  std::vector<double> squares_;  // of a subtree: masses times squared values
  std::vector<bool> splits_axis_;
};

}  // namespace

double MomentWithoutAxis(const Tree& tree, const TreeCells& cells,
                         const std::vector<double>& mass_of_node, double mean,
                         std::size_t axis) {
  PairWalk walk(tree, cells, mass_of_node, mean, axis);
  return walk.Run();
}

}  // namespace frostline
