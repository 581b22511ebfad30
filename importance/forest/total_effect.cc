// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/total_effect.h"

#include <cstdint>
#include <utility>

namespace frostline::importance {
namespace {

// A set of axes, a bit for each; of more axes than bits several share one.
using Axes = std::uint64_t;
constexpr int kEffectBits = 64;

Axes BitOf(int axis) { return Axes{1} << axis % kEffectBits; }

class PairWalk {
 public:
  PairWalk(const Tree& tree, const TreeCells& cells, double mean)
      : tree_(tree),
        mean_(mean),
        box_(tree, cells),
        has_own_bits_(cells.axes.size() <= kEffectBits),
        below_(tree.nodes.size()),
        totals_(cells.axes.size(), 0.0) {
    Fill(0);
  }

  std::vector<double> Run() {
    Together(0, 1.0);
    return std::move(totals_);
  }

 private:
  // Of what is below a node, within its box.
  struct Below {
    double share = 0.0;  // of the parent's box that is the node's
    double mean = 0.0;
    double square = 0.0;   // mean of squares
    std::size_t size = 1;  // in nodes
    Axes axes = 0;         // that are split
  };
  // Where one of two points is.
  struct Point {
    std::size_t node = 0;
    Axes split = 0;  // on its way since they parted; not that they differ in
  };

  void Fill(std::size_t node) {
    const TreeNode& here = tree_.nodes[node];
    Below& below = below_[node];
    if (here.axis < 0) {
      below.mean = here.value - mean_;
      below.square = below.mean * below.mean;
      return;
    }
    below.axes = BitOf(here.axis);
    // A child that is not reached has no mass in any box.
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      Fill(child);
      below_[child].share = share;
      below.size += below_[child].size;
      below.axes |= below_[child].axes;
      below.mean += share * below_[child].mean;
      below.square += share * below_[child].square;
    });
  }

  // Both points are in this node, whose box has this mass.
  void Together(std::size_t node, double mass) {
    const TreeNode& here = tree_.nodes[node];
    if (here.axis < 0) return;
    const auto axis = static_cast<std::size_t>(here.axis);
    const auto left = static_cast<std::size_t>(here.left);
    const auto right = static_cast<std::size_t>(here.right);
    axis_ = here.axis;
    others_ = has_own_bits_ ? ~BitOf(axis_) : ~Axes{0};
    // The axis in which they differ counts for each of them.
    const double both =
        below_[left].share * below_[right].share * box_.mass(axis) * mass;
    if (both > 0.0) totals_[axis] += Apart({left, 0}, {right, 0}, both);
    box_.EnterChildren(node, [this, mass](std::size_t child, double share) {
      Together(child, mass * share);
    });
  }

  // They have parted, each in a node of its own; the shared box has this mass.
  double Apart(Point a, Point b, double mass) {
    const Below& first = below_[a.node];
    const Below& second = below_[b.node];
    const Axes in_common =
        (first.axes & (second.axes | b.split)) | (second.axes & a.split);
    // Where neither says anything of the other, moments are enough.
    if ((in_common & others_) == 0) {
      return mass *
             (first.square + second.square - 2.0 * first.mean * second.mean);
    }
    if (first.size < second.size) std::swap(a, b);
    const std::size_t node = a.node;
    if (tree_.nodes[node].axis != axis_)
      a.split |= BitOf(tree_.nodes[node].axis);
    double sum = 0.0;
    VisitChildren(node, [&](std::size_t child, double share) {
      sum += Apart({child, a.split}, b, mass * share);
    });
    return sum;
  }

  // A split in the axis in which they differ says nothing of the other point.
  template <typename Visit>
  void VisitChildren(std::size_t node, const Visit& visit) {
    const TreeNode& here = tree_.nodes[node];
    if (here.axis != axis_) {
      box_.EnterChildren(node, visit);
      return;
    }
    for (const int child : {here.left, here.right}) {
      const auto place = static_cast<std::size_t>(child);
      if (below_[place].share > 0.0) visit(place, below_[place].share);
    }
  }

  const Tree& tree_;
  double mean_;
  TreeBox box_;  // that both points share
  bool has_own_bits_;
  std::vector<Below> below_;  // by node
  int axis_ = -1;             // in which the points differ
  Axes others_ = 0;           // all but that
  std::vector<double> totals_;
};

}  // namespace

std::vector<double> TotalVariancesOf(const Tree& tree, const TreeCells& cells,
                                     double mean) {
  return PairWalk(tree, cells, mean).Run();
}

}  // namespace frostline::importance
