// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/forest.h"

#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "importance/forest/fanova.h"
#include "importance/forest/marginal.h"
#include "tests/importance/allocations.h"
#include "tests/importance/trials.h"
#include "tests/support/watched.h"

namespace frostline::importance {
namespace {

Dataset DataOf(const Space& space, const History& history) {
  std::vector<const Point*> points;
  std::vector<double> losses;
  for (const Observation& trial : history.trials()) {
    points.push_back(&trial.point);
    losses.push_back(trial.values[0]);
  }
  return MakeDataset(MeasureSpace(space), points, losses);
}

TEST(FitTree, AFullTreeRepeatsWhatItSaw) {
  const Space space({{"x", FloatRange{0, 1, 0, false}, {}},
                     {"c", Categorical{{"1", "2", "3", "4"}}, {}},
                     {"lr", LogUniform{1e-9, 1e-3, true}, {}}},
                    {}, std::nullopt);
  const History history = UniformTrials(
      space, 80, [](const Point&, Rng& rng) { return rng.Normal(); });
  const Dataset data = DataOf(space, history);
  Rng rng(1);
  const Tree tree = FitTree(data, data.targets, RowWeights(80, 1), rng);
  for (std::size_t row = 0; row < 80; ++row) {
    EXPECT_DOUBLE_EQ(tree.Predict(data, row), data.targets[row]);
  }
}

TEST(FitTree, SplitsWhereTheTargetSteps) {
  const Space space = LevelSpace(3, 7);
  const History history = UniformTrials(
      space, 60,
      [](const Point& point, Rng&) { return point[1] >= 4.0 ? 1.0 : 0.0; });
  const Dataset data = DataOf(space, history);
  Rng rng(1);
  const Tree tree = FitTree(data, data.targets, RowWeights(60, 1), rng);
  ASSERT_EQ(tree.nodes.size(), 3u);
  EXPECT_EQ(tree.nodes[0].axis, 1);
  EXPECT_EQ(tree.nodes[0].threshold, 3.5);
}

// No order of the choices puts 0 and 2 on one side; one split of sets does.
TEST(FitTree, SplitsChoicesIntoSets) {
  const Space space({{"c", Categorical{{"1", "2", "3"}}, {}}}, {}, {});
  const History history = UniformTrials(
      space, 30,
      [](const Point& point, Rng&) { return point[0] == 1.0 ? 1.0 : 0.0; });
  const Dataset data = DataOf(space, history);
  Rng rng(1);
  const Tree tree = FitTree(data, data.targets, RowWeights(30, 1), rng);
  EXPECT_EQ(tree.nodes.size(), 3u);
}

TEST(FitTree, AWeightIsAsManyRows) {
  const Space space = LevelSpace(1, 2);
  History history;
  history.Put(Succeeded(0, {0}, 0.0));
  history.Put(Succeeded(1, {0}, 1.0));
  const Dataset data = DataOf(space, history);
  Rng rng(1);
  const Tree tree = FitTree(data, data.targets, {3, 1}, rng);
  EXPECT_DOUBLE_EQ(tree.nodes[0].value,
                   0.75 * data.targets[0] + 0.25 * data.targets[1]);
}

TEST(DrawRows, DrawsAsManyAsThereAreFromAmongThem) {
  Rng rng(3);
  const RowWeights among = {0, 5, 2, 0, 3};
  const RowWeights drawn = DrawRows(among, rng);
  EXPECT_EQ(std::accumulate(drawn.begin(), drawn.end(), 0u), 10u);
  EXPECT_EQ(drawn[0] + drawn[3], 0u);
}

TEST(OutOfBagR2, IsHighForSignalAndNotAboveZeroForNoise) {
  const Space space = LevelSpace(3, 7);
  const auto r2 = [&](const History& history) {
    const Dataset data = DataOf(space, history);
    return OutOfBagR2(data, FitForest(data, data.targets,
                                      RowWeights(data.rows(), 1), 32, 1, 0));
  };
  EXPECT_GT(r2(UniformTrials(space, 200,
                             [](const Point& p, Rng&) { return p[0] + p[1]; })),
            0.9);
  EXPECT_LT(
      r2(UniformTrials(space, 200,
                       [](const Point&, Rng& rng) { return rng.Normal(); })),
      0.0);
}

// What growing trees and taking them apart asks of memory: by trials, by
// parameters, by pairs; never by a product of levels.

constexpr int kTrees = 4;

struct Work {
  Allocations growing;
  Allocations mains;
  Allocations pairs;
};

Work WorkOn(int trials, int parameters, int levels) {
  const Space space = LevelSpace(parameters, levels);
  const History history =
      UniformTrials(space, trials, [](const Point& p, Rng& rng) {
        return p[0] + p[1] * p[2] + rng.Normal();
      });
  std::vector<const Point*> points;
  std::vector<double> losses;
  for (const Observation& trial : history.trials()) {
    points.push_back(&trial.point);
    losses.push_back(trial.values[0]);
  }
  const Dataset data = MakeDataset(MeasureSpace(space), points, losses);
  std::vector<std::size_t> axes(data.axes.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  Forest forest;
  Work work;
  work.growing = AllocationsOf([&] {
    forest = FitForest(data, data.targets, RowWeights(data.rows(), 1), kTrees,
                       /*seed=*/1, /*stream=*/0);
  });
  work.mains =
      AllocationsOf([&] { ForestMainShares(forest.trees, data.axes); });
  work.pairs =
      AllocationsOf([&] { ForestShares(forest.trees, data.axes, axes); });
  return work;
}

class ForestWork : public testing::Test {
 protected:
  void SetUp() override {
    if (kWatched) GTEST_SKIP() << "a sanitizer has its own operators";
  }
};

TEST_F(ForestWork, ATreeIsGrownInAFewPiecesHoweverManyItsRows) {
  const Work few = WorkOn(250, 14, 7), many = WorkOn(2000, 14, 7);
  EXPECT_LE(many.growing.calls, few.growing.calls + 8 * kTrees);
  EXPECT_LE(many.growing.most_bytes, 9 * few.growing.most_bytes);
}

TEST_F(ForestWork, GrowingTakesNoMoreMemoryForMoreParametersOrLevels) {
  const Work narrow = WorkOn(500, 7, 7);
  for (const Work& wide : {WorkOn(500, 26, 7), WorkOn(500, 7, 28)}) {
    EXPECT_LE(wide.growing.calls, narrow.growing.calls + 4 * kTrees);
    EXPECT_LE(10 * wide.growing.bytes, 11 * narrow.growing.bytes);
  }
}

TEST_F(ForestWork, MainEffectsAreSweptParameterByParameter) {
  const Work seven = WorkOn(500, 7, 7), many = WorkOn(500, 26, 7);
  EXPECT_LE(many.mains.calls, 4 * seven.mains.calls);
  EXPECT_LE(many.mains.most_bytes, 4 * seven.mains.most_bytes);
  const Work longer = WorkOn(2000, 7, 7);
  EXPECT_LE(longer.mains.calls, 2 * seven.mains.calls);
  EXPECT_LE(longer.mains.most_bytes, 5 * seven.mains.most_bytes);
}

TEST_F(ForestWork, PairsAddNoMoreThanTheirOwnNumber) {
  for (const int parameters : {7, 14, 26}) {
    const Work work = WorkOn(500, parameters, 7);
    const std::int64_t pairs = kTrees * parameters * (parameters - 1) / 2;
    EXPECT_LE(work.pairs.calls - work.mains.calls, 80 + 2 * pairs);
    // What a tree's leaves take is there once, not for every pair.
    EXPECT_LE(work.pairs.most_bytes, 2 * work.mains.most_bytes + 8 * pairs);
  }
}

TEST_F(ForestWork, NothingIsAsLargeAsAProductOfLevels) {
  const Work coarse = WorkOn(500, 14, 7), fine = WorkOn(500, 14, 56);
  EXPECT_LE(fine.mains.most_bytes, 2 * coarse.mains.most_bytes);
  EXPECT_LE(fine.pairs.most_bytes, 2 * coarse.pairs.most_bytes);
  EXPECT_LE(fine.pairs.calls, 2 * coarse.pairs.calls);
  // Three axes of 56 levels have 175,616 cells.
  EXPECT_LT(fine.pairs.largest, 56 * 56 * 56);
}

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
    const SubsetVariance found = SubsetVarianceOf(tree_, axes_, AxesOf(set));
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
  const std::vector<SubsetVariance> shares =
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
