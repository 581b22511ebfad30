// SPDX-License-Identifier: Apache-2.0
#include "sampler/cost.h"

#include <cmath>
#include <vector>

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

using Row = std::array<double, 3>;

// Divided by what w makes of them, so that w fits to 1.
std::vector<Row> RowsOf(const Row& w, double noise) {
  Rng rng(3);
  std::vector<Row> rows;
  for (int i = 0; i < 40; ++i) {
    Row row = {1.0, rng.Uniform(), 5.0 * rng.Uniform()};
    const double value = (w[0] * row[0] + w[1] * row[1] + w[2] * row[2]) *
                         (1.0 + noise * rng.Normal());
    for (double& column : row) column /= value;
    rows.push_back(row);
  }
  return rows;
}

TEST(NonnegativeFit, FindsTheWeightsThatMadeTheRows) {
  const std::vector<Row> rows = RowsOf({2.0, 3.0, 0.5}, 0.0);
  const Row found = FitToOne<3>(rows);
  EXPECT_NEAR(found[0], 2.0, 0.01);
  EXPECT_NEAR(found[1], 3.0, 0.02);
  EXPECT_NEAR(found[2], 0.5, 0.01);
}

// At the minimum no weight wants to move, but those at 0 below 0.
TEST(NonnegativeFit, EndsWhereNoWeightWantsToMove) {
  const std::vector<Row> rows = RowsOf({2.0, -1.0, 0.5}, 0.05);
  const Row found = FitToOne<3>(rows);
  EXPECT_EQ(found[1], 0.0);
  for (std::size_t i = 0; i < 3; ++i) {
    double slope = 0.0, squares = 0.0;
    for (const Row& row : rows) {
      slope += row[i] * (found[0] * row[0] + found[1] * row[1] +
                         found[2] * row[2] - 1.0);
      squares += row[i] * row[i];
    }
    slope += 1e-4 * squares * found[i];
    EXPECT_GT(slope, -1e-6);
    EXPECT_TRUE(found[i] == 0.0 || slope < 1e-6);
  }
}

TEST(NonnegativeFit, HasNoWeightForWhatNeverOccurs) {
  const std::vector<Row> rows = {{2.0, 0.0, 2.0}, {2.0, 0.0, 2.0}};
  const Row found = FitToOne<3>(rows);
  EXPECT_EQ(found[1], 0.0);
  EXPECT_NEAR(found[0] + found[2], 0.5, 0.001);
}

TEST(PointWork, CountsPassesThroughLayers) {
  const Space space = FourLayers();
  const WorkCounter counter(space);
  // Layers 1 and 2 and the top train: 1 is the lowest, and needs no gradient
  // of its input.
  const PointWork some = counter.CountOf(AllAbove(1));
  EXPECT_EQ(some.prefix, 1.0);
  EXPECT_EQ(some.forward, 2.0);
  EXPECT_EQ(some.backward, 1.0);
  EXPECT_EQ(some.weights, 2.0);
  EXPECT_EQ(some.top, 3.0);
  const PointWork none = counter.CountOf(AllAbove(4));
  EXPECT_EQ(none.passes(), 0.0);
  EXPECT_EQ(none.prefix, 4.0);
}

TEST(PointWork, AGradientThatReachesEmbeddingsPassesEveryLayer) {
  const Space space({{"embeddings", Levels{{0, 1e-4}}, {}}},
                    {{"embeddings", 0, 0.0, {}},
                     {"layer.0.attention", {}, 0.0, {}},
                     {"layer.0.ffn", {}, 1e-4, {}},
                     {"layer.1", {}, 0.0, {}}},
                    std::nullopt);
  const WorkCounter counter(space);
  const PointWork trained = counter.CountOf({1.0});
  EXPECT_EQ(trained.embeddings, 1.0);
  EXPECT_EQ(trained.backward, 1.0);
  EXPECT_EQ(trained.weights, 0.5);  // half of layer 0
  EXPECT_EQ(trained.top, 2.0);
  EXPECT_FALSE(WorkCounter::BoundaryOf(trained).has_value());
  EXPECT_EQ(counter.CountOf({0.0}).backward, 0.0);
}

TEST(PointWork, ReadsSearchedNumbersAndChoices) {
  const Space space =
      FourLayers({{"epochs", IntRange{1, 4, 1, false}, {}},
                  {"batch_size", Categorical{{"16", "32"}}, {}},
                  {"max_length", IntRange{16, 128, 1, true}, {}}});
  const PointWork work =
      WorkCounter(space).CountOf(AllAbove(2, {3.0, 1.0, 64.0}));
  EXPECT_EQ(work.epochs, 3.0);
  EXPECT_EQ(work.steps(), 3.0 / 32.0);
  EXPECT_EQ(WorkCounter::BoundaryOf(work), (WorkCounter::Boundary{2, 64.0}));
}

TEST(PointWork, TakesRatesForLayersWhereNoModulesAreNamed) {
  const Space space({{"a", Levels{{0, 1e-4}}, {}},
                     {"b", LogUniform{1e-5, 1e-3, true}, {}},
                     {"c", FloatRange{0.0, 1.0, 0.0, false}, {}}},
                    {}, std::nullopt);
  const PointWork work = WorkCounter(space).CountOf({1.0, 0.0, 0.5});
  EXPECT_EQ(work.forward + work.weights, 2.0);
  EXPECT_EQ(work.top, 2.0);  // forward, and the gradient for what is below
  EXPECT_EQ(work.prefix, 0.0);
}

}  // namespace
}  // namespace frostline::sampler
