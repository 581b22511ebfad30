// SPDX-License-Identifier: Apache-2.0
#include "sampler/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "sampler/draw/random.h"
#include "sampler/factory.h"
#include "study/history.h"
#include "study/space.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

using testing::HasSubstr;

const std::vector<Objective> kLoss = {{.metric = "loss"}};

// Six layers, of which the first has its halves apart, embeddings that may
// train and batches of 8, 16 or 32.
Space SixLayers() {
  std::vector<Parameter> parameters;
  std::vector<ModuleBinding> modules;
  const auto searched = [&](const std::string& module) {
    modules.push_back({module, static_cast<int>(parameters.size()), 0.0, {}});
    parameters.push_back({module, Levels{{0, 1e-5, 1e-4}}, {}});
  };
  searched("embeddings");
  searched("layer.0.attention");
  searched("layer.0.ffn");
  for (int i = 1; i < 6; ++i) searched("layer." + std::to_string(i));
  modules.push_back({"head", {}, 1e-3, {}});
  parameters.push_back({"batch_size", Categorical{{"8", "16", "32"}}, {}});
  return Space(std::move(parameters), std::move(modules), {});
}

// What a trainer would take, in MiB: 90 of embeddings and 27 of each layer,
// copies and moments of what trains, and the larger of gradients and
// activations, which are never there together.
double WeightOf(const std::string& module) {
  if (module == "embeddings") return 90.0;
  if (module == "head") return 0.5;
  if (module == "layer.0.attention") return 9.0;
  return module == "layer.0.ffn" ? 18.0 : 27.0;
}

double TakenBy(const Space& space, const Point& point) {
  double trained = 0.0, graph = 0.0;
  bool below = false;
  for (std::size_t m = 0; m < space.modules().size(); ++m) {
    const std::string& module = space.modules()[m].module;
    const bool trains = !space.IsFrozen(m, point);
    if (trains) trained += WeightOf(module);
    below = below || (trains && module != "head");
    const bool is_layer = module.starts_with("layer.");
    if (below && is_layer) graph += module.starts_with("layer.0.") ? 0.5 : 1.0;
  }
  const double batch = std::exp2(3.0 + point.back());
  return 280.0 + 3.0 * trained + std::max(trained, 0.9 * batch * graph);
}

Observation Ended(std::int64_t number, const Point& point, double mib,
                  TrialState state = TrialState::kSucceeded) {
  Observation trial;
  trial.number = number;
  trial.state = state;
  trial.point = point;
  trial.values = {0.0};
  trial.use.peak_mib = static_cast<float>(mib);
  return trial;
}

// As a trainer with audits says it.
Observation Audited(const Space& space, Observation trial) {
  std::vector<ModuleBytes> modules;
  bool below = false;
  const double batch = std::exp2(3.0 + trial.point.back());
  for (std::size_t m = 0; m < space.modules().size(); ++m) {
    const std::string& module = space.modules()[m].module;
    below = below || (!space.IsFrozen(m, trial.point) && module != "head");
    const bool keeps =
        below && module.starts_with("layer.") && module != "layer.0.ffn";
    modules.push_back({module, WeightOf(module) * 0x1p20,
                       keeps ? 0.9 * batch * 0x1p20 : 0.0});
  }
  trial.use.modules =
      std::make_shared<const std::vector<ModuleBytes>>(std::move(modules));
  return trial;
}

Observation RanOut(std::int64_t number, const Point& point) {
  Observation trial = Ended(number, point, 0.0, TrialState::kInfeasible);
  trial.out_of_memory = true;
  return trial;
}

History Drawn(const Space& space, int trials) {
  History history;
  Rng rng(11);
  for (int i = 0; i < trials; ++i) {
    const Point point = DrawPoint(space, kFrozenShare, rng);
    history.Put(Ended(i, point, TakenBy(space, point)));
  }
  return history;
}

// Nothing trains but the head, or all of it; of batches the number.
Point Nothing(double batch = 0.0) { return {0, 0, 0, 0, 0, 0, 0, 0, batch}; }
Point All(double batch = 2.0) { return {1, 1, 1, 1, 1, 1, 1, 1, batch}; }

TEST(MemoryModel, PredictsPointsThatNobodyTried) {
  const Space space = SixLayers();
  MemoryModel memory(space);
  memory.CatchUp(Drawn(space, 5));
  EXPECT_FALSE(memory.knows());
  memory.CatchUp(Drawn(space, 60));
  ASSERT_TRUE(memory.knows()) << memory.error();
  Rng rng(5);
  std::vector<double> errors;
  for (int i = 0; i < 101; ++i) {
    const Point point = DrawPoint(space, kFrozenShare, rng);
    errors.push_back(
        std::abs(memory.MibOf(point) / TakenBy(space, point) - 1.0));
  }
  std::ranges::sort(errors);
  EXPECT_LT(errors[50], 0.03);
  EXPECT_LT(errors[95], 0.12);
}

// With audits a few trials are enough.
TEST(MemoryModel, LearnsFromAuditsWhatModulesTake) {
  const Space space = SixLayers();
  History history;
  Rng rng(11);
  for (int i = 0; i < 15; ++i) {
    const Point point = DrawPoint(space, kFrozenShare, rng);
    history.Put(Audited(space, Ended(i, point, TakenBy(space, point))));
  }
  MemoryModel memory(space);
  memory.CatchUp(history);
  ASSERT_TRUE(memory.knows()) << memory.error();
  for (int i = 0; i < 200; ++i) {
    const Point point = DrawPoint(space, kFrozenShare, rng);
    const double truth = TakenBy(space, point);
    EXPECT_NEAR(memory.MibOf(point), truth, 0.05 * truth);
  }
}

TEST(MemoryModel, CountsTheWeightsThatTrain) {
  const Space space = SixLayers();
  History history;
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    const Point point = DrawPoint(space, kFrozenShare, rng);
    Observation trial = Ended(i, point, TakenBy(space, point));
    trial.trained_parameters = 10.0;  // the head
    for (int m = 0; m < 8; ++m) {
      const auto at = static_cast<std::size_t>(m);
      const double weights = m == 0   ? 500.0
                             : m == 1 ? 40.0
                             : m == 2 ? 80.0
                                      : 120.0;
      if (point[at] > 0.0) trial.trained_parameters += weights;
    }
    history.Put(trial);
  }
  MemoryModel memory(space);
  memory.CatchUp(history);
  EXPECT_NEAR(*memory.TrainedWeightsOf(All()), 10 + 500 + 6 * 120, 2.0);
  EXPECT_NEAR(*memory.TrainedWeightsOf({0, 1, 0, 0, 0, 0, 0, 2, 0}), 170, 2.0);
}

TEST(MemoryModel, WhatNeedsMoreThanWhatRanOutCannotFit) {
  const Space space = SixLayers();
  MemoryModel memory(space);
  EXPECT_EQ(memory.Judge(All()), MemoryFit::kFits);
  History history;
  history.Put(RanOut(0, {0, 0, 0, 0, 1, 1, 1, 1, 1}));
  history.Put(Ended(1, {0, 0, 0, 0, 0, 1, 1, 1, 1}, 0.0));
  memory.CatchUp(history);
  EXPECT_EQ(memory.Judge({0, 0, 0, 0, 1, 1, 1, 1, 2}), MemoryFit::kCannot);
  EXPECT_EQ(memory.Judge(All(1.0)), MemoryFit::kCannot);
  EXPECT_EQ(memory.Judge(All(0.0)), MemoryFit::kUnknown);  // a smaller batch
  EXPECT_EQ(memory.Judge({0, 0, 0, 0, 0, 2, 0, 1, 1}), MemoryFit::kFits);
  // The same point ran after all: something else decides.
  history.Put(Ended(2, {0, 0, 0, 0, 1, 1, 1, 1, 1}, 0.0));
  memory.CatchUp(history);
  EXPECT_NE(memory.Judge(All(1.0)), MemoryFit::kCannot);
}

TEST(MemoryModel, ARunOutOfMemoryIsALimitThatNobodyGave) {
  const Space space = SixLayers();
  History history = Drawn(space, 60);
  MemoryModel memory(space);
  memory.CatchUp(history);
  const Point neighbour = {1, 0, 1, 1, 1, 1, 1, 1, 2};
  EXPECT_EQ(memory.Judge(neighbour), MemoryFit::kFits);
  history.Put(RanOut(60, {1, 1, 1, 1, 1, 1, 1, 0, 2}));
  memory.CatchUp(history);
  EXPECT_EQ(memory.Judge(neighbour), MemoryFit::kCannot);
  EXPECT_EQ(memory.Judge(Nothing()), MemoryFit::kFits);
}

// A study under a limit, whose trials take what TakenBy says.
struct BoundStudy {
  BoundStudy(const std::string& name, double limit)
      : spec{.name = name,
             .options = {},
             .seed = 3,
             .purpose = Purpose::kBoth,
             .memory_limit = limit},
        sampler(*MakeSampler(spec, space, kLoss)) {}

  absl::StatusOr<Point> Run() {
    const auto number = static_cast<std::int64_t>(history.size());
    Rng rng(spec.seed, static_cast<std::uint64_t>(number));
    absl::StatusOr<Point> point = sampler->Propose(history, number, rng);
    if (!point.ok()) return point;
    EXPECT_OK(space.Check(*point));
    const double mib = TakenBy(space, *point);
    most = std::max(most, mib);
    if (mib > spec.memory_limit) ++beyond;
    Observation trial = Ended(number, *point, mib);
    // The more trains the better.
    trial.values = {-TakenBy(space, Nothing(point->back())) / mib};
    trial.constraints = {mib - spec.memory_limit};
    history.Put(Audited(space, trial));
    return point;
  }

  Space space = SixLayers();
  SamplerSpec spec;
  std::unique_ptr<Sampler> sampler;
  History history;
  double most = 0.0;
  int beyond = 0;
};

TEST(Fitting, NoProposalGoesBeyondTheLimit) {
  for (const char* const name : {"random", "tpe", "levels-gp", "qmc"}) {
    SCOPED_TRACE(name);
    BoundStudy study(name, 600.0);
    EXPECT_TRUE(SamePoint(*study.Run(), Nothing()));
    for (int i = 1; i < 80; ++i) ASSERT_OK(study.Run());
    EXPECT_EQ(study.beyond, 0);
    EXPECT_GT(study.most, 520.0);  // and yet uses what there is
    std::set<Point> points;
    for (const Observation& trial : study.history.trials()) {
      points.insert(trial.point);
    }
    EXPECT_GT(points.size(), 30U);
  }
}

TEST(Fitting, WithoutALimitEverythingIsAsItWas) {
  const Space space = SixLayers();
  const SamplerSpec spec{.name = "random", .options = {}, .seed = 1};
  const auto sampler = *MakeSampler(spec, space, kLoss);
  for (std::uint64_t number = 0; number < 20; ++number) {
    Rng one(1, number), two(1, number);
    const Point point = *sampler->Propose(History(), 0, one);
    EXPECT_TRUE(SamePoint(point, DrawPoint(space, kFrozenShare, two)));
  }
}

TEST(Fitting, SaysWhatTheLeastTakesWhereNothingFits) {
  BoundStudy study("random", 100.0);
  ASSERT_OK(study.Run());  // only this one tells
  const absl::StatusOr<Point> second = study.Run();
  EXPECT_THAT(second, FailsWith(ErrorId::kSpaceTooLarge));
  EXPECT_THAT(second.status().message(),
              HasSubstr("(peak_memory_mib <= 100): of those that ran the least "
                        "took 2"));
}

// Which of these numbers takes memory, nobody knows.
TEST(Fitting, ASpaceOfOtherNumbersIsSearchedAsEver) {
  const Space space({{"width", IntRange{1, 8, 1, false}, {}},
                     {"dropout", FloatRange{0.0, 0.5, 0.0, false}, {}}},
                    {}, {});
  const auto sampler = *MakeSampler(
      {.name = "random", .options = {}, .seed = 2, .memory_limit = 10.0}, space,
      kLoss);
  History history;
  history.Put(RanOut(0, {8.0, 0.1}));
  history.Put(Ended(1, {7.0, 0.2}, 20.0));
  Rng rng(2, 2);
  EXPECT_OK(sampler->Propose(history, 2, rng));
}

TEST(Fitting, AGridPassesOverWhatCannotFit) {
  const Space space(
      {{"layer.0", Levels{{0, 1e-4}}, {}}, {"layer.1", Levels{{0, 1e-4}}, {}}},
      {{"layer.0", 0, 0.0, {}}, {"layer.1", 1, 0.0, {}}}, {});
  for (const char* const name : {"grid", "brute"}) {
    SCOPED_TRACE(name);
    const auto sampler =
        *MakeSampler({.name = name, .options = {}, .seed = 2}, space, kLoss);
    History history;
    history.Put(RanOut(0, {1.0, 0.0}));  // so both cannot train either
    std::set<Point> proposed;
    for (std::int64_t number = 1; number < 3; ++number) {
      Rng rng(2, static_cast<std::uint64_t>(number));
      const absl::StatusOr<Point> point =
          sampler->Propose(history, number, rng);
      ASSERT_OK(point);
      proposed.insert(*point);
      history.Put(Ended(number, *point, 1.0));
    }
    EXPECT_EQ(proposed, (std::set<Point>{{0.0, 0.0}, {0.0, 1.0}}));
    Rng rng(2, 3);
    EXPECT_THAT(sampler->Propose(history, 3, rng),
                FailsWith(ErrorId::kSpaceExhausted));
  }
}

}  // namespace
}  // namespace frostline::sampler
