// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/marginal.h"

#include <cmath>

#include "base/rng.h"
#include "gmock/gmock.h"

namespace frostline::importance {
namespace {

TreeNode ForestLeaf(double value) {
  TreeNode node;
  node.value = value;
  return node;
}
TreeNode ForestSplit(int axis, double threshold, int left, int right) {
  TreeNode node;
  node.axis = axis;
  node.threshold = threshold;
  node.left = left;
  node.right = right;
  return node;
}

// A tree worked out on paper: axis 1 at 0.5, and left of it axis 2 at three
// quarters; leaves 0.1, 0.2 and 0.5. Mean 0.3125.
TEST(TreeMarginals, AgreeWithATreeWorkedOutByHand) {
  Tree tree;
  tree.nodes = {ForestSplit(1, 0.5, 1, 2), ForestSplit(2, 0.75, 3, 4),
                ForestLeaf(0.5), ForestLeaf(0.1), ForestLeaf(0.2)};
  const MeasuredAxis line(FloatRange{0, 1, 0, false}, 1.0);
  const std::vector<MeasuredAxis> axes = {line, line, line};
  const TreeMarginals marginals(tree, axes);
  EXPECT_NEAR(marginals.variance(), 0.03609375, 1e-15);
  EXPECT_NEAR(marginals.MainVariance(0), 0.0, 1e-15);
  EXPECT_NEAR(marginals.MainVariance(1), 0.03515625, 1e-15);
  EXPECT_NEAR(marginals.MainVariance(2), 0.00046875, 1e-15);
  const auto pairs = marginals.PairVariances({0, 1, 2});
  EXPECT_NEAR(pairs[0], 0.0, 1e-15);
  EXPECT_NEAR(pairs[2], 0.00046875, 1e-15);
  EXPECT_NEAR(marginals.TotalVariances()[0], 0.0, 1e-15);
  EXPECT_NEAR(marginals.TotalVariances()[1], 0.03515625 + 0.00046875, 1e-15);
  EXPECT_NEAR(marginals.TotalVariances()[2], 2 * 0.00046875, 1e-15);
  const auto curve = marginals.CurveAt(2, {0.1, 0.74, 0.76});
  EXPECT_NEAR(curve[0], (0.1 + 0.5) / 2.0 - 0.3125, 1e-15);
  EXPECT_NEAR(curve[1], curve[0], 1e-15);
  EXPECT_NEAR(curve[2], (0.2 + 0.5) / 2.0 - 0.3125, 1e-15);
}

// Every split at random, so all kinds of boxes come up.
void Grow(Tree& tree, std::size_t node, int depth, Rng& rng) {
  if (depth == 0 || rng.Uniform() < 0.15) {
    tree.nodes[node].value = rng.Normal();
    return;
  }
  const auto axis = static_cast<int>(rng.Below(4));
  const auto left = static_cast<int>(tree.nodes.size());
  tree.nodes[node] =
      ForestSplit(axis, std::floor(rng.Uniform() * 4.0) - 0.5, left, left + 1);
  if (axis == 3) {
    for (int c = 0; c < 4; ++c) {
      tree.nodes[node].goes_left.push_back(rng.Uniform() < 0.5);
    }
  }
  tree.nodes.resize(tree.nodes.size() + 2);
  Grow(tree, static_cast<std::size_t>(left), depth - 1, rng);
  Grow(tree, static_cast<std::size_t>(left) + 1, depth - 1, rng);
}

// Brute force over all points of a space of four axes with four values each.
class Grid {
 public:
  explicit Grid(const Tree& tree) {
    for (std::size_t p = 0; p < 256; ++p) {
      std::size_t i = 0;
      while (tree.nodes[i].axis >= 0) {
        const TreeNode& node = tree.nodes[i];
        const auto code = ValueAt(p, static_cast<std::size_t>(node.axis));
        const bool left = node.goes_left.empty()
                              ? static_cast<double>(code) <= node.threshold
                              : node.goes_left[code];
        i = static_cast<std::size_t>(left ? node.left : node.right);
      }
      values_.push_back(tree.nodes[i].value);
    }
  }

  // Var E[f | the axes in `known`].
  double VarianceGiven(unsigned known) const {
    std::vector<double> sums(256, 0.0), counts(256, 0.0);
    double mean = 0.0, variance = 0.0;
    for (std::size_t p = 0; p < 256; ++p) {
      sums[Group(p, known)] += values_[p];
      counts[Group(p, known)] += 1.0;
      mean += values_[p] / 256.0;
    }
    for (std::size_t g = 0; g < 256; ++g) {
      if (counts[g] == 0.0) continue;
      const double deviation = sums[g] / counts[g] - mean;
      variance += counts[g] / 256.0 * deviation * deviation;
    }
    return variance;
  }

 private:
  static std::size_t ValueAt(std::size_t point, std::size_t axis) {
    return point >> (2 * axis) & 3;
  }
  static std::size_t Group(std::size_t point, unsigned known) {
    std::size_t group = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      if ((known >> axis & 1) != 0) group |= ValueAt(point, axis) << (2 * axis);
    }
    return group;
  }
  std::vector<double> values_;
};

TEST(TreeMarginals, AgreeWithBruteForceOnRandomTrees) {
  const MeasuredAxis levels(Levels{{0, 1, 2, 3}}, 1.0);
  const MeasuredAxis choices(Categorical{{"0", "1", "2", "3"}}, 1.0);
  const std::vector<MeasuredAxis> axes = {levels, levels, levels, choices};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    Tree tree;
    tree.nodes.resize(1);
    Grow(tree, 0, 7, rng);
    const Grid grid(tree);
    const TreeMarginals marginals(tree, axes);
    ASSERT_NEAR(marginals.variance(), grid.VarianceGiven(15), 1e-12) << seed;
    const auto pairs = marginals.PairVariances({0, 1, 2, 3});
    const auto totals = marginals.TotalVariances();
    std::size_t p = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const double main = grid.VarianceGiven(1u << i);
      ASSERT_NEAR(marginals.MainVariance(i), main, 1e-12) << seed;
      ASSERT_NEAR(totals[i],
                  grid.VarianceGiven(15) - grid.VarianceGiven(15u & ~(1u << i)),
                  1e-12)
          << seed;
      for (unsigned j = i + 1; j < 4; ++j) {
        ASSERT_NEAR(pairs[p++],
                    grid.VarianceGiven(1u << i | 1u << j) - main -
                        grid.VarianceGiven(1u << j),
                    1e-12)
            << seed;
      }
    }
  }
}

TEST(TreeMarginals, OneLeafHasNothingToExplain) {
  Tree tree;
  tree.nodes = {ForestLeaf(3.0)};
  const std::vector<MeasuredAxis> axes = {
      MeasuredAxis(Levels{{0, 1}}, 1.0), MeasuredAxis(Categorical{{"1"}}, 1.0)};
  const TreeMarginals marginals(tree, axes);
  EXPECT_EQ(marginals.variance(), 0.0);
  EXPECT_EQ(marginals.MainVariance(1), 0.0);
  EXPECT_EQ(marginals.TotalVariances()[0], 0.0);
  EXPECT_THAT(marginals.PairVariances({0, 1}), testing::ElementsAre(0.0));
}

}  // namespace
}  // namespace frostline::importance
