// SPDX-License-Identifier: Apache-2.0
#include "sampler/cost.h"

#include <cmath>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "tests/sampler/cost/cost_cases.h"

namespace frostline::sampler {
namespace {

// 2 s, and a second for each pass of a layer; 8 s for each layer to fill.
double Truth(const Space& space, const Point& point, double computed) {
  const PointWork work = WorkCounter(space).CountOf(point);
  return 2.0 + work.epochs * work.passes() + 8.0 * work.prefix * computed;
}

// Depths in turn, each filled by the first trial that has it.
History TurnsOfDepths(const Space& space, int trials) {
  History history;
  for (int i = 0; i < trials; ++i) {
    const Point point = AllAbove(i % 4);
    const float computed = i % 4 == 0 ? -1.0F : i < 4 ? 1.0F : 0.0F;
    history.Put(TrialOf(i, point,
                        Truth(space, point, std::max(0.0, double{computed})),
                        computed));
  }
  return history;
}

TEST(CostModel, KnowsNothingBeforeTwoTrialsWereKeptOut) {
  const Space space = FourLayers();
  CostModel cost(space);
  cost.CatchUp(TurnsOfDepths(space, 5));
  EXPECT_FALSE(cost.knows());
  cost.CatchUp(TurnsOfDepths(space, 10));
  EXPECT_TRUE(cost.knows());
  EXPECT_LT(cost.error(), 0.01);
}

TEST(CostModel, PredictsPointsThatNobodyTried) {
  const Space space = FourLayers();
  CostModel cost(space);
  cost.CatchUp(TurnsOfDepths(space, 20));
  for (const double below : {0.0, 1.0}) {
    const Point mixed = {1.0, kAbsent, below, 0.0, 1.0};
    EXPECT_NEAR(cost.SecondsOf(mixed), Truth(space, mixed, 0.0),
                0.1 * Truth(space, mixed, 0.0));
  }
}

// Nobody had depth 4: whoever is the first pays for its boundary.
TEST(CostModel, ABoundaryThatNobodyComputedCostsItsFill) {
  const Space space = FourLayers();
  History history = TurnsOfDepths(space, 20);
  CostModel cost(space);
  cost.CatchUp(history);
  const Point deepest = AllAbove(4);
  EXPECT_NEAR(cost.SecondsOf(deepest), 2.0 + 8.0 * 4.0, 3.0);
  history.Put(TrialOf(20, deepest, 34.0, 1.0F));
  cost.CatchUp(history);
  EXPECT_NEAR(cost.SecondsOf(deepest), 2.0, 1.0);
}

TEST(CostModel, SaysThatItDoesNotKnowWhatHangsOnOtherThings) {
  const Space space = FourLayers();
  History history;
  Rng rng(7);
  for (int i = 0; i < 60; ++i) {
    history.Put(TrialOf(i, AllAbove(static_cast<int>(rng.Below(5))),
                        std::exp(6.0 * rng.Uniform())));
  }
  CostModel cost(space);
  cost.CatchUp(history);
  EXPECT_FALSE(cost.knows());
}

TEST(CostModel, AnotherDeviceIsTheSameTimesAFactor) {
  const Space space = FourLayers();
  History history;
  for (int i = 0; i < 40; ++i) {
    const Point point = AllAbove(i % 5);
    Observation trial = TrialOf(i, point, Truth(space, point, 0.0), 0.0F);
    if (i % 3 == 0) {
      trial.use.device = 2;
      trial.use.seconds /= 10.0F;
    }
    history.Put(trial);
  }
  CostModel cost(space);
  cost.CatchUp(history);
  EXPECT_LT(cost.error(), 0.01);
  EXPECT_NEAR(cost.SecondsOf(AllAbove(0)), Truth(space, AllAbove(0), 0.0), 0.2);
}

TEST(CostModel, LearnsEpochsBatchesAndLengths) {
  const Space space =
      FourLayers({{"epochs", IntRange{1, 4, 1, false}, {}},
                  {"batch_size", Categorical{{"8", "32"}}, {}},
                  {"max_length", IntRange{16, 128, 1, true}, {}}});
  const WorkCounter counter(space);
  const auto truth = [&counter](const Point& point) {
    const PointWork work = counter.CountOf(point);
    return 1.0 + work.epochs * work.max_length / 32.0 * work.passes() +
           10.0 * work.steps();
  };
  Rng rng(5);
  const auto draw = [&rng] {
    return AllAbove(static_cast<int>(rng.Below(5)),
                    {1.0 + static_cast<double>(rng.Below(4)),
                     static_cast<double>(rng.Below(2)),
                     16.0 + static_cast<double>(rng.Below(113))});
  };
  History history;
  for (int i = 0; i < 40; ++i) {
    const Point point = draw();
    history.Put(TrialOf(i, point, truth(point)));
  }
  CostModel cost(space);
  cost.CatchUp(history);
  ASSERT_TRUE(cost.knows());
  for (int i = 0; i < 20; ++i) {
    const Point point = draw();
    EXPECT_NEAR(cost.SecondsOf(point), truth(point), 0.1 * truth(point));
  }
}

// What came bit by bit is what a fresh one makes of all of it, whatever lies in
// the history.
TEST(CostModel, IsWhatAFreshOneWouldBe) {
  const Space space = FourLayers();
  CostModel old_one(space);
  History history;
  for (int i = 0; i < 600; ++i) {
    const Point point = AllAbove(i % 5);
    Observation trial = TrialOf(i, point, 1.0 + i % 5 + i % 3, 0.0F);
    if (i % 7 == 0) trial.point = {1.0};  // of another space
    if (i % 11 == 0) trial.state = TrialState::kFailed;
    if (i % 13 == 0) trial.use.seconds = 0.0F;
    trial.cost_s = i % 26 == 0 ? 0.0 : trial.cost_s;
    history.Put(trial);
    if (i % 50 == 0) old_one.CatchUp(history);
  }
  old_one.CatchUp(history);
  CostModel fresh(space);
  fresh.CatchUp(history);
  EXPECT_EQ(old_one.error(), fresh.error());
  for (int depth = 0; depth <= 4; ++depth) {
    EXPECT_EQ(old_one.SecondsOf(AllAbove(depth)),
              fresh.SecondsOf(AllAbove(depth)));
  }
}

}  // namespace
}  // namespace frostline::sampler
