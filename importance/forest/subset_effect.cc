// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/subset_effect.h"

#include "importance/forest/joint_effect.h"
#include "importance/forest/tree_box.h"

namespace frostline::importance {
namespace {

// One tree and one set of known axes.
class SharedWalk {
 public:
  SharedWalk(const Tree& tree, const TreeCells& cells, double mean,
             const std::vector<bool>& is_known)
      : tree_(tree),
        is_known_(is_known),
        mean_(mean),
        box_(tree, cells),
        sums_(tree.nodes.size(), 0.0),
        squares_(tree.nodes.size(), 0.0),
        splits_known_(tree.nodes.size(), false),
        splits_other_(tree.nodes.size(), false) {
    Fill(0, 1.0, 1.0);
  }

  double Variance() { return Together(0, 1.0); }

 private:
  bool IsKnown(const TreeNode& node) const {
    return is_known_[static_cast<std::size_t>(node.axis)];
  }

  // `known` and `other` are the masses of the node's box along the known axes
  // and along all others.
  void Fill(std::size_t node, double known, double other) {
    const TreeNode& here = tree_.nodes[node];
    if (here.axis < 0) {
      const double value = here.value - mean_;
      sums_[node] = other * value;
      squares_[node] = known * (other * value) * (other * value);
      return;
    }
    const bool on_known = IsKnown(here);
    (on_known ? splits_known_ : splits_other_)[node] = true;
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      Fill(child, on_known ? known * share : known,
           on_known ? other : other * share);
      sums_[node] += sums_[child];
      squares_[node] += squares_[child];
      if (splits_known_[child]) splits_known_[node] = true;
      if (splits_other_[child]) splits_other_[node] = true;
    });
  }

  // Both points are in this node, whose box along the known axes is the shared
  // one and has this mass.
  double Together(std::size_t node, double mass) {
    if (!splits_known_[node]) return mass * sums_[node] * sums_[node];
    if (!splits_other_[node]) return squares_[node];
    const TreeNode& here = tree_.nodes[node];
    const auto left = static_cast<std::size_t>(here.left);
    const auto right = static_cast<std::size_t>(here.right);
    if (!IsKnown(here)) {
      return Together(left, mass) + Together(right, mass) +
             2.0 * Apart(left, right, mass);
    }
    double sum = 0.0;
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      sum += Together(child, mass * share);
    });
    return sum;
  }

  // They are in two nodes whose boxes meet in the shared one.
  double Apart(std::size_t a, std::size_t b, double mass) {
    if (!splits_known_[a]) {
      if (!splits_known_[b]) return mass * sums_[a] * sums_[b];
      return Apart(b, a, mass);  // the sides are symmetric
    }
    const TreeNode& here = tree_.nodes[a];
    if (!IsKnown(here)) {
      return Apart(static_cast<std::size_t>(here.left), b, mass) +
             Apart(static_cast<std::size_t>(here.right), b, mass);
    }
    double sum = 0.0;
    box_.EnterChildren(a, [&](std::size_t child, double share) {
      sum += Apart(child, b, mass * share);
    });
    return sum;
  }

  const Tree& tree_;
  const std::vector<bool>& is_known_;
  double mean_;
  TreeBox box_;
  std::vector<double> sums_;     // of a subtree: values by their other mass
  std::vector<double> squares_;  // of a subtree where only known axes split
  std::vector<bool> splits_known_;
  std::vector<bool> splits_other_;
};

double SubsetMeanOf(const Tree& tree, const TreeCells& cells, std::size_t node,
                    TreeBox& box) {
  const TreeNode& here = tree.nodes[node];
  if (here.axis < 0) return here.value;
  const auto axis = static_cast<std::size_t>(here.axis);
  const double whole = box.mass(axis);
  double mean = 0.0;
  for (const bool left : {true, false}) {
    box.Enter(node, left);
    const double part = box.mass(axis);
    if (part > 0.0) {
      const int child = left ? here.left : here.right;
      mean += part / whole *
              SubsetMeanOf(tree, cells, static_cast<std::size_t>(child), box);
    }
    box.Leave();
  }
  return mean;
}

}  // namespace

SubsetShare SubsetVarianceOf(const Tree& tree,
                             const std::vector<MeasuredAxis>& axes,
                             const std::vector<std::size_t>& subset) {
  SubsetShare variance;
  if (subset.empty()) return variance;
  const TreeCells cells = MakeCells(tree, axes);
  TreeBox box(tree, cells);
  const double mean = SubsetMeanOf(tree, cells, 0, box);
  std::vector<bool> is_known(axes.size(), false);
  for (const std::size_t axis : subset) is_known[axis] = true;
  variance.together = SharedWalk(tree, cells, mean, is_known).Variance();
  variance.beyond = subset.size() == 1 ? variance.together
                                       : JointVarianceOf(tree, cells, subset);
  return variance;
}

}  // namespace frostline::importance
