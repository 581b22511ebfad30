// SPDX-License-Identifier: Apache-2.0
#include "importance/cube/cube_evaluator.h"

#include <cmath>

#include "importance/cube/cube_forest.h"
#include "importance/evaluator.h"
#include "importance/forest/fanova.h"
#include "importance/forest/marginal.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

// Splits column 1 at 0.5, its left half column 2 at 1.5.
const TreeArrays kWorked = {.feature = {1, 2, -1, -1, -1},
                            .threshold = {0.5, 1.5, 0, 0, 0},
                            .left = {1, 2, -1, -1, -1},
                            .right = {4, 3, -1, -1, -1},
                            .value = {0, 0, 0.1, 0.2, 0.5},
                            .weight = {4, 2, 1, 1, 2}};
const std::vector<Column> kBox = {{0, 1}, {0, 1}, {0, 2}};

EvaluateOptions With(const std::string& evaluator) {
  EvaluateOptions options;
  options.evaluator = evaluator;
  options.bootstraps = 8;
  return options;
}

double Slope(const Point& point, Rng& rng) {
  return point[0] + 0.3 * point[1] + 0.05 * rng.Normal();
}

TEST(CubeFanova, AWorkedTreeComesOutAsOnPaper) {
  ASSERT_OK_AND_ASSIGN(const ColumnTree tree, ImportTree(kWorked, 3));
  const CubeTree cube(tree, kBox);
  EXPECT_NEAR(cube.variance(), 0.03609375, 1e-16);
  EXPECT_NEAR(cube.MarginalVariance({0}), 0.0, 1e-16);
  EXPECT_NEAR(cube.MarginalVariance({1}), 0.03515625, 1e-16);
  EXPECT_NEAR(cube.MarginalVariance({2}), 0.00046875, 1e-16);
  EXPECT_NEAR(cube.MarginalVariance({1, 2}), cube.variance(), 1e-16);
  const std::vector<double> shares = CubeShares({tree}, kBox, {{0}, {1}, {2}});
  EXPECT_NEAR(shares[1], 0.974026, 1e-6);
  EXPECT_NEAR(shares[2], 0.012987, 1e-6);
}

TEST(CubeFanova, OurOwnMeasureOfTheWorkedTreeIsTheSameWhereAxesAreLinear) {
  std::vector<MeasuredAxis> axes;
  for (const Column& box : kBox) {
    axes.emplace_back(FloatRange{box.low, box.high, 0, false}, 1.0);
  }
  Tree tree;
  tree.nodes.resize(5);
  for (std::size_t i = 0; i < 5; ++i) {
    tree.nodes[i].axis = kWorked.feature[i];
    tree.nodes[i].left = kWorked.left[i];
    tree.nodes[i].right = kWorked.right[i];
    tree.nodes[i].value = kWorked.value[i];
  }
  tree.nodes[0].threshold = 0.5;
  tree.nodes[1].threshold = 0.75;  // 1.5 of 2, as a share
  const TreeMarginals marginals(tree, axes);
  EXPECT_NEAR(marginals.variance(), 0.03609375, 1e-16);
  EXPECT_NEAR(marginals.MainVariance(1), 0.03515625, 1e-16);
  EXPECT_NEAR(marginals.MainVariance(2), 0.00046875, 1e-16);
  EXPECT_NEAR(marginals.PairVariances({1, 2})[0], 0.00046875, 1e-16);
}

TEST(CubeFanova, OfAChoiceTheFirstSplitWeighsHalf) {
  // Three choices; the first worth 1, the second 2, the third 4.
  const TreeArrays arrays = {.feature = {2, 1, -1, -1, -1},
                             .threshold = {0.5, 0.5, 0, 0, 0},
                             .left = {1, 2, -1, -1, -1},
                             .right = {4, 3, -1, -1, -1},
                             .value = {0, 0, 1, 2, 4},
                             .weight = {}};
  ASSERT_OK_AND_ASSIGN(const ColumnTree tree, ImportTree(arrays, 3));
  const CubeTree cube(tree, std::vector<Column>(3));
  // Masses 1/4, 1/4, 1/2, where each choice should have a third.
  const double mean = 0.25 + 0.5 + 2.0;
  const double variance = 0.25 + 1.0 + 8.0 - mean * mean;
  EXPECT_NEAR(cube.variance(), variance, 1e-15);
  EXPECT_NEAR(cube.MarginalVariance({0, 1, 2}), variance, 1e-15);
}

TEST(CubeFanova, SweepsAndPairsOfBoxesAgree) {
  const Space space({{"x", FloatRange{-1, 3, 0, false}, {}},
                     {"y", FloatRange{0, 1, 0, false}, {}}},
                    {}, std::nullopt);
  const History history = UniformTrials(
      space, 80, [](const Point& p, Rng&) { return p[0] * p[1] + p[0]; });
  Selection selection;
  for (const Observation& trial : history.trials()) {
    selection.points.push_back(&trial.point);
    selection.losses.push_back(trial.values[0]);
  }
  const CubeData data = MakeCubeData(space, selection);
  const CubeForest forest =
      GrowCubeForest(data, data.targets, CubeWeights(80, 1), 4, 1, 0);
  // A third column that no tree splits makes a group of two out of one.
  std::vector<Column> wide = data.columns;
  wide.push_back({0, 1});
  for (const ColumnTree& tree : forest.trees) {
    const CubeTree cube(tree, wide);
    EXPECT_NEAR(cube.MarginalVariance({0}), cube.MarginalVariance({0, 2}),
                1e-13);
    EXPECT_NEAR(cube.MarginalVariance({0, 1}), cube.variance(), 1e-13);
  }
}

TEST(CubeFanova, ABoxCountsByItsShareOfTheColumnsThatAreNotAskedFor) {
  // Only where column 0 is below a quarter does column 1 matter.
  ASSERT_OK_AND_ASSIGN(const ColumnTree tree,
                       ImportTree({.feature = {0, 1, -1, -1, -1},
                                   .threshold = {0.25, 0.5, 0, 0, 0},
                                   .left = {1, 2, -1, -1, -1},
                                   .right = {4, 3, -1, -1, -1},
                                   .value = {0, 0, 0, 4, 0},
                                   .weight = {}},
                                  2));
  const CubeTree cube(tree, std::vector<Column>(2));
  EXPECT_NEAR(cube.MarginalVariance({1}), 0.25, 1e-15);  // 0 or 1, a half each
  EXPECT_NEAR(cube.MarginalVariance({0}), 0.75, 1e-15);  // 2 in a quarter
}

TEST(CubeFanova, ArraysThatAreNoTreeAreRefused) {
  const auto changed = [](auto change) {
    TreeArrays arrays = kWorked;
    change(arrays);
    return ImportTree(arrays, 3);
  };
  EXPECT_OK(changed([](TreeArrays&) {}));
  for (const auto& bad :
       {changed([](TreeArrays& a) { a.left[1] = 0; }),
        changed([](TreeArrays& a) { a.left[0] = 4; }),
        changed([](TreeArrays& a) { a.right[0] = 9; }),
        changed([](TreeArrays& a) { a.feature[0] = 3; }),
        changed([](TreeArrays& a) { a.feature[1] = -1; }),
        changed([](TreeArrays& a) { a.value[4] = std::nan(""); }),
        changed([](TreeArrays& a) { a.value.pop_back(); }),
        ImportTree(TreeArrays(), 3)}) {
    EXPECT_THAT(bad, FailsWith(ErrorId::kRequestInvalid));
  }
}

TEST(Mdi, SharesAreWhatSplitsTookOffTheError) {
  ASSERT_OK_AND_ASSIGN(const ColumnTree tree,
                       ImportTree({.feature = {1, 2, -1, -1, -1},
                                   .threshold = {0.5, 1.5, 0, 0, 0},
                                   .left = {1, 2, -1, -1, -1},
                                   .right = {4, 3, -1, -1, -1},
                                   .value = {2.5, 1.0, 0.0, 2.0, 4.0},
                                   .weight = {4, 2, 1, 1, 2}},
                                  3));
  // Squared error: 11 at the root, 2 after the first split, 0 at the end.
  const std::vector<double> shares = ImpurityShares({tree}, {{0}, {1}, {2}});
  EXPECT_NEAR(shares[0], 0.0, 1e-15);
  EXPECT_NEAR(shares[1], 9.0 / 11.0, 1e-15);
  EXPECT_NEAR(shares[2], 2.0 / 11.0, 1e-15);
}

TEST(CubeEvaluators, FindWhatMattersAndAreTheSameEveryTime) {
  const Space space = LevelSpace(4, 5);
  const History history = UniformTrials(space, 120, Slope);
  for (const std::string name : {"fanova-optuna", "mdi"}) {
    ASSERT_OK_AND_ASSIGN(const Report one,
                         Evaluate(space, kLoss, history, With(name)));
    ASSERT_OK_AND_ASSIGN(const Report two,
                         Evaluate(space, kLoss, history, With(name)));
    double sum = one.unexplained.value;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(one.parameters[i].main.value, two.parameters[i].main.value);
      EXPECT_EQ(one.parameters[i].main.lo95, two.parameters[i].main.lo95);
      sum += one.parameters[i].main.value;
    }
    EXPECT_NEAR(sum, 1.0, 1e-9);
    EXPECT_EQ(one.parameters[0].rank, 1);
    EXPECT_TRUE(one.parameters[0].distinguishable);
    EXPECT_FALSE(one.parameters[3].distinguishable);
    EXPECT_GT(one.out_of_bag_r2, 0.7);
  }
}

TEST(CubeEvaluators, RatesLieOnALinearAxisAsThePeersDo) {
  const Space space({{"rate", LogUniform{1e-10, 1e-5, false}, {}},
                     {"x", FloatRange{0, 1, 0, false}, {}}},
                    {}, std::nullopt);
  // All that matters happens below 1e-7, where a peer does not split.
  const History history = UniformTrials(space, 200, [](const Point& p, Rng&) {
    return (p[0] < 1e-8 ? 1.0 : 0.0) + 0.5 * p[1];
  });
  const double theirs = Evaluate(space, kLoss, history, With("fanova-optuna"))
                            ->parameters[0]
                            .main.value;
  const double ours =
      Evaluate(space, kLoss, history, With("fanova"))->parameters[0].main.value;
  EXPECT_LT(theirs, 0.3);
  EXPECT_GT(ours, 0.8);
}

TEST(CubeEvaluators, WhatSomeTrialsLackIsLeftOutAndNamed) {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  const Space space({{"c", Categorical{{"1", "2"}}, {}},
                     {"x", FloatRange{0, 1, 0, false}, when},
                     {"one", Levels{{1e-3}}, {}}},
                    {}, std::nullopt);
  const History history = UniformTrials(space, 100, [](const Point& p, Rng&) {
    return IsAbsent(p[1]) ? 0.0 : 1.0 + p[1];
  });
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, With("fanova-optuna")));
  EXPECT_NEAR(report.parameters[0].main.value, 1.0, 1e-9);
  EXPECT_EQ(report.parameters[1].main.value, 0.0);
  EXPECT_EQ(report.parameters[2].main.value, 0.0);
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_EQ(report.warnings.back().code, "PARAMETER_LEFT_OUT");
  EXPECT_THAT(report.warnings.back().parameters, testing::ElementsAre(1));
}

TEST(CubeEvaluators, AThousandChoicesTakeNoGrid) {
  std::vector<std::string> choices;
  for (int k = 0; k < 1000; ++k) choices.push_back(std::to_string(k));
  const Space space({{"c", Categorical{choices}, {}},
                     {"x", FloatRange{-1e300, 1e300, 0, false}, {}}},
                    {}, std::nullopt);
  const History history = UniformTrials(space, 300, [](const Point& p, Rng&) {
    return std::fmod(p[0], 10.0) + (p[1] > 0.0 ? 5.0 : 0.0);
  });
  EvaluateOptions options = With("fanova-optuna");
  options.bootstraps = 0;
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, options));
  EXPECT_GT(report.parameters[1].main.value, 0.2);
  EXPECT_LE(report.parameters[0].main.value + report.parameters[1].main.value,
            1.0 + 1e-9);
}

TEST(OtherEvaluators, SayTooFewAndConstant) {
  const Space space = LevelSpace(2, 7);
  for (const std::string& name : EvaluatorNames()) {
    EXPECT_THAT(
        Evaluate(space, kLoss, UniformTrials(space, 7, Slope), With(name)),
        FailsWith(ErrorId::kTrialsTooFew))
        << name;
    EXPECT_OK(
        Evaluate(space, kLoss, UniformTrials(space, 8, Slope), With(name)));
    EXPECT_THAT(Evaluate(space, kLoss,
                         UniformTrials(space, 50,
                                       [](const Point&, Rng&) { return 0.25; }),
                         With(name)),
                FailsWith(ErrorId::kTargetConstant))
        << name;
  }
}

}  // namespace
}  // namespace frostline::importance
