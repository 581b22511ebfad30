// SPDX-License-Identifier: Apache-2.0
//
// What growing trees and taking them apart asks of memory: by trials, by
// parameters, by pairs; never by a product of levels.
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "importance/forest/fanova.h"
#include "importance/forest/forest.h"
#include "tests/importance/allocations.h"
#include "tests/importance/trials.h"
#include "tests/support/watched.h"

namespace frostline::importance {
namespace {

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

}  // namespace
}  // namespace frostline::importance
