// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/forest.h"

#include <numeric>

#include "gmock/gmock.h"
#include "tests/importance/trials.h"

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

}  // namespace
}  // namespace frostline::importance
