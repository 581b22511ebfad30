// SPDX-License-Identifier: Apache-2.0
#include "sampler/cost.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "study/history.h"
#include "study/space.h"
#include "study/space_builder.h"

namespace frostline::sampler {

// A small encoder whose trials take known seconds.

// Four layers below a searched depth, of two levels each; embeddings frozen,
// the head trained. More parameters stand behind them.
inline Space FourLayers(std::vector<Parameter> more = {}) {
  std::vector<Parameter> parameters = {
      {"prefix_depth", IntRange{0, 4, 1, false}, {}}};
  std::vector<ModuleBinding> modules = {{"embeddings", {}, 0.0, {}}};
  for (int i = 0; i < 4; ++i) {
    const std::string module = "layer." + std::to_string(i);
    parameters.push_back({module, Levels{{0, 1e-4}},
                          Condition{0, {}, 0.0, static_cast<double>(i)}});
    modules.push_back({module, i + 1, 0.0, i});
  }
  modules.push_back({"head", {}, 1e-3, {}});
  for (Parameter& one : more) parameters.push_back(std::move(one));
  return Space(parameters, modules, 0);
}

// Every layer above `depth` trains.
inline Point AllAbove(int depth, const std::vector<double>& more = {}) {
  Point point = {static_cast<double>(depth)};
  for (int i = 0; i < 4; ++i) point.push_back(i < depth ? kAbsent : 1.0);
  point.insert(point.end(), more.begin(), more.end());
  return point;
}

inline Observation TrialOf(std::int64_t number, const Point& point,
                           double seconds, float computed = -1.0F) {
  Observation trial;
  trial.number = number;
  trial.state = TrialState::kSucceeded;
  trial.point = point;
  trial.values = {0.0};
  trial.cost_s = seconds / 2.0;
  trial.use = {.seconds = static_cast<float>(seconds),
               .device = 1,
               .prefix_computed = computed};
  return trial;
}

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

TEST(PointWork, AdaptersCarryGradientsAndHaveNoneOfWeights) {
  SpaceBuilder builder({.num_layers = 4});
  builder.AddRanks("layer.*", {.rates = {0, 16, 64}, .are_ranks = true}, "m");
  builder.FixModules("layer.*", 1e-3, "m");
  const Space space = builder.Build().value();
  const WorkCounter counter(space);
  const PointWork none = counter.CountOf({0, 0, 0, 0});
  EXPECT_EQ(none.prefix, 4.0);
  EXPECT_EQ(none.adapters, 0.0);
  const PointWork some = counter.CountOf({0, 1, 0, 2});
  EXPECT_EQ(some.prefix, 1.0);
  EXPECT_EQ(some.weights, 0.0);
  EXPECT_EQ(some.backward, 1.0);  // of layer 2, above the lowest adapter
  EXPECT_EQ(some.top, 2.0);
  EXPECT_EQ(some.adapters, 2.0);
  EXPECT_EQ(some.ranks, 1.25);
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

// Seconds of real trials: MiniLM (6 layers of 384) on 256 short reviews, one
// epoch in batches of 32, two slots of one node that other programs shared, so
// that equal trials differ by tens of percent. All that was frozen from below
// went through the prefix store.

struct RecordedTrial {
  const char* levels;  // the depth, then of each layer above it the level
  double seconds;
  double computed;  // rows of its prefix; -1: it used none
};

constexpr RecordedTrial kTrials[] = {
#include "tests/sampler/cost/recorded_trials.inc"
};

Space RecordedSpace() {
  std::vector<Parameter> parameters = {
      {"prefix_depth", IntRange{0, 6, 1, false}, {}}};
  std::vector<ModuleBinding> modules = {{"embeddings", {}, 0.0, {}}};
  for (int i = 0; i < 6; ++i) {
    const std::string module = "layer." + std::to_string(i);
    parameters.push_back({module, Levels{{0, 1e-4, 3e-4}},
                          Condition{0, {}, 0.0, static_cast<double>(i)}});
    modules.push_back({module, i + 1, 0.0, i});
  }
  modules.push_back({"pooler", {}, 1e-3, {}});
  modules.push_back({"head", {}, 1e-3, {}});
  return Space(parameters, modules, 0);
}

Observation ObservationOf(std::int64_t number, const RecordedTrial& recorded) {
  Observation trial;
  trial.number = number;
  trial.state = TrialState::kSucceeded;
  for (const char level : std::string(recorded.levels)) {
    trial.point.push_back(level == '-' ? kAbsent
                                       : static_cast<double>(level - '0'));
  }
  trial.values = {0.0};
  trial.use = {.seconds = static_cast<float>(recorded.seconds),
               .device = 1,
               .prefix_computed = static_cast<float>(recorded.computed)};
  return trial;
}

struct Told {
  double error = 0.0;  // the median of later trials, boundaries being there
  bool knows = false;
};

Told AfterTrials(const Space& space, std::size_t count) {
  History history;
  for (std::size_t i = 0; i < count; ++i) {
    history.Put(ObservationOf(static_cast<std::int64_t>(i), kTrials[i]));
  }
  CostModel cost(space);
  cost.CatchUp(history);
  std::vector<double> errors;
  for (std::size_t i = count; i < std::size(kTrials); ++i) {
    if (kTrials[i].computed > 0.0) continue;
    const Point point = ObservationOf(0, kTrials[i]).point;
    errors.push_back(std::abs(cost.SecondsOf(point) / kTrials[i].seconds - 1));
  }
  std::sort(errors.begin(), errors.end());
  const double error = errors[errors.size() / 2];
  std::printf(
      "after %zu trials: %.3f of %zu later ones, %.3f of those kept "
      "out\n",
      count, error, errors.size(), cost.error());
  return {error, cost.knows()};
}

TEST(RecordedTrials, ArePredictedAfterTenOthers) {
  const Space space = RecordedSpace();
  EXPECT_LE(AfterTrials(space, 10).error, 0.15);
  for (const std::size_t count : {10U, 15U, 20U, 30U}) {
    const Told told = AfterTrials(space, count);
    EXPECT_TRUE(told.knows);
    EXPECT_LE(told.error, 0.2);
  }
}

}  // namespace
}  // namespace frostline::sampler
