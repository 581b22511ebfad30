// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/fanova.h"

#include <bit>
#include <map>
#include <utility>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "importance/forest/marginal.h"
#include "tests/importance/trials.h"

namespace frostline::importance {
namespace {

Tree Stump(int axis, double step) {
  Tree tree;
  tree.nodes.resize(3);
  tree.nodes[0].axis = axis;
  tree.nodes[0].threshold = 0.5;
  tree.nodes[0].left = 1;
  tree.nodes[0].right = 2;
  tree.nodes[2].value = step;
  return tree;
}

TEST(ForestShares, AverageOverTheTreesThatVary) {
  const std::vector<MeasuredAxis> axes(2, MeasuredAxis(Levels{{0, 1}}, 1.0));
  const Shares shares =
      ForestShares({Stump(0, 1.0), Stump(1, 9.0), Stump(0, 0.0), Stump(0, 2.0)},
                   axes, {0, 1});
  EXPECT_NEAR(shares.main[0], 2.0 / 3.0, 1e-15);
  EXPECT_NEAR(shares.main[1], 1.0 / 3.0, 1e-15);
  EXPECT_THAT(shares.pairs, testing::ElementsAre(0.0));
  EXPECT_NEAR(shares.unexplained, 0.0, 1e-15);
}

TEST(ForestShares, WithoutAnyVarianceNothingIsExplained) {
  const std::vector<MeasuredAxis> axes(2, MeasuredAxis(Levels{{0, 1}}, 1.0));
  const Shares shares = ForestShares({Stump(0, 0.0)}, axes, {});
  EXPECT_THAT(shares.main, testing::ElementsAre(0.0, 0.0));
  EXPECT_EQ(shares.unexplained, 1.0);
}

// Levels, choices, a rate with frozen, and a range that the third of the space
// does not have.
std::vector<MeasuredAxis> MixedAxes() {
  return {MeasuredAxis(Levels{{0, 1, 2, 3}}, 1.0),
          MeasuredAxis(Categorical{{"a", "b", "c"}}, 1.0),
          MeasuredAxis(LogUniform{1e-6, 1e-2, true}, 1.0),
          MeasuredAxis(FloatRange{0, 1, 0, false}, 2.0 / 3.0),
          MeasuredAxis(Categorical{{"x", "y"}}, 0.5)};
}

// Cuts at which trees may split the axis, and the mass of what lies between.
std::vector<double> CutsOf(const MeasuredAxis& axis) {
  if (!axis.is_ordered()) {
    std::vector<double> codes(axis.choice_masses().size());
    for (std::size_t c = 0; c < codes.size(); ++c) {
      codes[c] = static_cast<double>(c);
    }
    return codes;
  }
  if (axis.is_finite()) return {0.5, 1.5, 2.5, 3.5};
  return {-1.5, -0.5, 0.25, 0.75, 1.0};
}

double MassAt(const MeasuredAxis& axis, std::size_t cell) {
  if (!axis.is_ordered()) return axis.choice_masses()[cell];
  const std::vector<double> cuts = CutsOf(axis);
  return axis.MassUpTo(cuts[cell]) -
         (cell == 0 ? 0.0 : axis.MassUpTo(cuts[cell - 1]));
}

void GrowSubsets(const std::vector<MeasuredAxis>& axes, Tree& tree,
                 std::size_t node, int depth, Rng& rng) {
  if (depth == 0 || rng.Uniform() < 0.1) {
    tree.nodes[node].value = rng.Normal();
    return;
  }
  const auto axis = static_cast<std::size_t>(rng.Below(axes.size()));
  const std::vector<double> cuts = CutsOf(axes[axis]);
  TreeNode split;
  split.axis = static_cast<int>(axis);
  split.left = static_cast<int>(tree.nodes.size());
  split.right = split.left + 1;
  if (axes[axis].is_ordered()) {
    split.threshold = cuts[static_cast<std::size_t>(rng.Below(cuts.size()))];
  } else {
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      split.goes_left.push_back(rng.Uniform() < 0.5);
    }
  }
  tree.nodes[node] = split;
  tree.nodes.resize(tree.nodes.size() + 2);
  GrowSubsets(axes, tree, static_cast<std::size_t>(split.left), depth - 1, rng);
  GrowSubsets(axes, tree, static_cast<std::size_t>(split.right), depth - 1,
              rng);
}

// Every cell of the space, one after the other.
class SubsetGrid {
 public:
  SubsetGrid(const Tree& tree, const std::vector<MeasuredAxis>& axes)
      : axes_(axes) {
    std::vector<std::size_t> at(axes.size(), 0);
    for (bool is_more = true; is_more; is_more = Next(at)) {
      double mass = 1.0;
      for (std::size_t a = 0; a < at.size(); ++a) {
        mass *= MassAt(axes[a], at[a]);
      }
      cells_.push_back({at, mass, ValueAt(tree, at)});
    }
  }

  // Var E[f | the axes in `known`], from the definition.
  double VarianceGiven(unsigned known) const {
    std::map<std::vector<std::size_t>, std::pair<double, double>> groups;
    double mean = 0.0, variance = 0.0;
    for (const Cell& cell : cells_) {
      std::vector<std::size_t> key;
      for (std::size_t a = 0; a < axes_.size(); ++a) {
        if ((known >> a & 1u) != 0) key.push_back(cell.at[a]);
      }
      groups[key].first += cell.mass;
      groups[key].second += cell.mass * cell.value;
      mean += cell.mass * cell.value;
    }
    for (const auto& [key, group] : groups) {
      if (group.first == 0.0) continue;
      const double away = group.second / group.first - mean;
      variance += group.first * away * away;
    }
    return variance;
  }

 private:
  struct Cell {
    std::vector<std::size_t> at;
    double mass = 0.0;
    double value = 0.0;
  };

  bool Next(std::vector<std::size_t>& at) const {
    for (std::size_t a = 0; a < at.size(); ++a) {
      if (++at[a] < CutsOf(axes_[a]).size()) return true;
      at[a] = 0;
    }
    return false;
  }

  double ValueAt(const Tree& tree, const std::vector<std::size_t>& at) const {
    std::size_t i = 0;
    while (tree.nodes[i].axis >= 0) {
      const TreeNode& node = tree.nodes[i];
      const auto axis = static_cast<std::size_t>(node.axis);
      const bool left = node.goes_left.empty()
                            ? CutsOf(axes_[axis])[at[axis]] <= node.threshold
                            : node.goes_left[at[axis]];
      i = static_cast<std::size_t>(left ? node.left : node.right);
    }
    return tree.nodes[i].value;
  }

  const std::vector<MeasuredAxis>& axes_;
  std::vector<Cell> cells_;
};

std::vector<std::size_t> AxesOf(unsigned set) {
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < 5; ++a) {
    if ((set >> a & 1u) != 0) axes.push_back(a);
  }
  return axes;
}

class RandomTrees : public testing::TestWithParam<std::uint64_t> {
 protected:
  RandomTrees() {
    Rng rng(GetParam());
    tree_.nodes.resize(1);
    GrowSubsets(axes_, tree_, 0, 7, rng);
  }
  const std::vector<MeasuredAxis> axes_ = MixedAxes();
  Tree tree_;
};

TEST_P(RandomTrees, EverySubsetAgreesWithListingTheWholeSpace) {
  const SubsetGrid grid(tree_, axes_);
  for (unsigned set = 0; set < 32; ++set) {
    double beyond = 0.0;
    for (unsigned part = 1; part <= set; ++part) {
      if ((part & ~set) != 0) continue;
      const bool is_minus = std::popcount(set ^ part) % 2 == 1;
      beyond += (is_minus ? -1.0 : 1.0) * grid.VarianceGiven(part);
    }
    const SubsetShare found = SubsetVarianceOf(tree_, axes_, AxesOf(set));
    EXPECT_NEAR(found.together, grid.VarianceGiven(set), 1e-12) << set;
    EXPECT_NEAR(found.beyond, beyond, 1e-12) << set;
  }
}

TEST_P(RandomTrees, AllEffectsOfAllSubsetsAddUpToTheVariance) {
  double sum = 0.0;
  for (unsigned set = 1; set < 32; ++set) {
    sum += SubsetVarianceOf(tree_, axes_, AxesOf(set)).beyond;
  }
  EXPECT_NEAR(sum, TreeMarginals(tree_, axes_).variance(), 1e-10);
}

TEST_P(RandomTrees, MainEffectsPairsAndTotalsAreSubsetsToo) {
  const TreeMarginals marginals(tree_, axes_);
  const auto pairs = marginals.PairVariances({0, 1, 2, 3, 4});
  const auto totals = marginals.TotalVariances();
  std::size_t p = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    const unsigned others = 31u & ~(1u << i);
    EXPECT_NEAR(SubsetVarianceOf(tree_, axes_, {i}).beyond,
                marginals.MainVariance(i), 1e-12);
    EXPECT_NEAR(marginals.variance() -
                    SubsetVarianceOf(tree_, axes_, AxesOf(others)).together,
                totals[i], 1e-12);
    for (std::size_t j = i + 1; j < 5; ++j) {
      EXPECT_NEAR(SubsetVarianceOf(tree_, axes_, {j, i}).beyond, pairs[p++],
                  1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTrees,
                         testing::Range<std::uint64_t>(0, 12));

// What the parity of three signs explains, only all three together do.
TEST(ForestSubsetShares, FindsAnEffectThatNoPairHas) {
  const std::vector<MeasuredAxis> axes(4, MeasuredAxis(Levels{{0, 1}}, 1.0));
  Tree tree;
  tree.nodes.resize(15);
  for (int i = 0; i < 7; ++i) {
    TreeNode& node = tree.nodes[static_cast<std::size_t>(i)];
    node.axis = i == 0 ? 0 : i < 3 ? 1 : 2;
    node.threshold = 0.5;
    node.left = 2 * i + 1;
    node.right = 2 * i + 2;
  }
  for (unsigned leaf = 0; leaf < 8; ++leaf) {
    tree.nodes[7 + leaf].value = std::popcount(leaf) % 2 == 0 ? 1.0 : -1.0;
  }
  const std::vector<SubsetShare> shares =
      ForestSubsetShares({tree}, axes, {{0, 1, 2}, {0, 1}, {0, 1, 2, 3}, {}});
  EXPECT_NEAR(shares[0].beyond, 1.0, 1e-12);
  EXPECT_NEAR(shares[1].together, 0.0, 1e-12);
  EXPECT_NEAR(shares[2].together, 1.0, 1e-12);
  EXPECT_NEAR(shares[2].beyond, 0.0, 1e-12);
  EXPECT_EQ(shares[3].together, 0.0);
}

TEST(ForestSubsetShares, OfAFlatTreeAreNothing) {
  const std::vector<MeasuredAxis> axes(3, MeasuredAxis(Levels{{0, 1}}, 1.0));
  Tree flat;
  flat.nodes.resize(1);
  const auto shares = ForestSubsetShares({flat}, axes, {{0}, {0, 1}});
  EXPECT_EQ(shares[1].together, 0.0);
  EXPECT_EQ(shares[1].beyond, 0.0);
}

}  // namespace
}  // namespace frostline::importance
