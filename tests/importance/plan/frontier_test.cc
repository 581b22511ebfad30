// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/frontier.h"

#include <algorithm>
#include <cmath>

#include "importance/plan/plan_trials.h"
#include "importance/plan/study_plan.h"
#include "study/space_builder.h"
#include "tests/importance/plan/plan_trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"
#include "tests/support/watched.h"

namespace frostline::importance {
namespace {

double Noisily(const Point& p, Rng& rng) {
  return std::min(Substitutes(p) + 0.01 * rng.Normal(), 1.0);
}

Frontier FrontierOf(const Space& space, const History& history,
                    double tolerance) {
  PlanOptions options;
  options.tolerance = tolerance;
  const auto frontier = MakeFrontier(space, kAccuracy, history, options);
  EXPECT_OK(frontier);
  return *frontier;
}

TEST(Frontier, OfSubstitutesSaysThatTheStrongestLayersAreEnough) {
  const Space space = Modules(4, 4);
  const Frontier frontier =
      FrontierOf(space, UniformTrials(space, 120, Noisily), 0.06);
  ASSERT_EQ(frontier.by_modules.size(), 5u);  // 0 to 4 trained
  for (std::size_t k = 0; k < 5; ++k) {
    const FrontierSet& set = frontier.by_modules[k];
    EXPECT_EQ(set.trained.size(), k);
    EXPECT_LE(set.predicted.lo80, Substitutes(set.point) + 0.01);
    EXPECT_GE(set.predicted.hi80, Substitutes(set.point) - 0.01);
  }
  EXPECT_EQ(frontier.by_modules[1].trained[0], "layer.3");
  EXPECT_LT(frontier.by_modules[0].within_tolerance_probability, 0.01);
  ASSERT_GE(frontier.chosen, 0);
  EXPECT_LE(frontier.chosen, 2);
  EXPECT_THAT(frontier.verdict, testing::HasSubstr("is enough"));
  EXPECT_THAT(frontier.verdict, testing::HasSubstr("layer.3"));
}

TEST(Frontier, CountsTrialsAndWhatSetsTake) {
  const Space space = Modules(3, 3);
  const History bare = UniformTrials(space, 60, Noisily);
  History history;
  std::int64_t none = 0;
  for (Observation trial : bare.trials()) {
    const auto trained =
        3 - std::count(trial.point.begin(), trial.point.end(), 0.0);
    none += trained == 0 ? 1 : 0;
    trial.trained_parameters = 10.0 + 1000.0 * static_cast<double>(trained);
    trial.cost_s = 2.0 + static_cast<double>(trained);
    history.Put(trial);
  }
  const Frontier frontier = FrontierOf(space, history, 0.0);
  EXPECT_GT(frontier.tolerance, 0.0);  // the noise of one run
  EXPECT_LT(frontier.tolerance, 0.05);
  ASSERT_EQ(frontier.by_modules.size(), 4u);
  EXPECT_EQ(frontier.by_modules[0].trials, none);
  EXPECT_NEAR(frontier.by_modules[2].trained_parameters, 2010.0, 1e-6);
  EXPECT_NEAR(frontier.by_modules[2].seconds, 4.0, 1e-6);
}

TEST(Frontier, ManyModulesAreSearchedGreedily) {
  const Space space = Modules(12, 3);
  const Frontier frontier = FrontierOf(
      space,
      UniformTrials(space, 120,
                    [](const Point& p, Rng& rng) {
                      return 0.5 + 0.2 * (p[7] > 0.0) + 0.15 * (p[2] > 0.0) +
                             0.01 * rng.Normal();
                    }),
      0.05);
  ASSERT_EQ(frontier.by_modules.size(), 13u);
  EXPECT_THAT(frontier.by_modules[1].trained, testing::ElementsAre("layer.7"));
  EXPECT_THAT(frontier.by_modules[2].trained,
              testing::ElementsAre("layer.2", "layer.7"));
  EXPECT_EQ(frontier.chosen, 2);
}

TEST(Frontier, ByPrefixFreezesFromBelow) {
  SpaceBuilder builder({.num_layers = 3});
  builder.FixModules("pooler", 1e-4, "p");
  builder.FixModules("head", 1e-3, "h");
  builder.AddModules("layer.*", Levels{{1e-5, 1e-4}}, "m");
  builder.SetPrefixDepth(0, 3, "d");
  ASSERT_OK_AND_ASSIGN(const Space space, builder.Build());
  const Frontier frontier = FrontierOf(
      space,
      UniformTrials(space, 80,
                    [&space](const Point& p, Rng& rng) {
                      double sum = 0.6;
                      for (const ModuleRate& rate : space.Rates(p)) {
                        if (rate.module == "layer.2" && rate.rate > 0.0)
                          sum += 0.2;
                      }
                      return sum + 0.01 * rng.Normal();
                    }),
      0.05);
  ASSERT_GE(frontier.by_prefix.size(), 3u);
  EXPECT_TRUE(std::is_sorted(frontier.by_prefix.begin(),
                             frontier.by_prefix.end(),
                             [](const FrontierSet& a, const FrontierSet& b) {
                               return a.prefix_frozen > b.prefix_frozen;
                             }));
  EXPECT_LT(frontier.by_prefix.front().predicted.value, 0.7);
  EXPECT_GT(frontier.by_prefix[1].predicted.value, 0.75);
  for (const FrontierSet& set : frontier.by_prefix) {
    EXPECT_OK(space.Check(set.point));
  }
}

// One depth and one rate above it switch all layers, so no single module can be
// switched by itself.
TEST(Frontier, WhatADepthTrainsIsASet) {
  SpaceBuilder builder({.num_layers = 3});
  builder.FixModules("pooler", 1e-4, "p");
  builder.FixModules("head", 1e-3, "h");
  builder.TieModules("above", {"layer.*"}, Levels{{1e-5, 1e-4}}, "t");
  builder.SetPrefixDepth(0, 3, "d");
  ASSERT_OK_AND_ASSIGN(const Space space, builder.Build());
  const Frontier frontier = FrontierOf(
      space,
      UniformTrials(space, 80,
                    [](const Point& p, Rng& rng) {
                      const double depth = p.back();
                      return (depth < 3.0 ? 0.8 : 0.6) + 0.01 * rng.Normal();
                    }),
      0.05);
  ASSERT_GE(frontier.chosen, 0);
  const auto chosen = static_cast<std::size_t>(frontier.chosen);
  EXPECT_EQ(frontier.by_modules[chosen].trained,
            std::vector<std::string>{"layer.2"});
  for (const FrontierSet& set : frontier.by_prefix) {
    const bool is_smaller = set.trained.empty();
    EXPECT_EQ(set.within_tolerance_probability >= kSureEnough, !is_smaller)
        << "both tables are of the same sets";
  }
}

TEST(Frontier, WhatTheTrialsDoNotTellIsNotNamed) {
  const Space space = Modules(4, 4);
  const Frontier frontier = FrontierOf(
      space,
      UniformTrials(
          space, 12,
          [](const Point&, Rng& rng) { return 0.8 + 0.05 * rng.Uniform(); }),
      0.001);
  EXPECT_EQ(frontier.chosen, -1);
  EXPECT_THAT(frontier.verdict, testing::HasSubstr("is not known"));
}

TEST(Frontier, WithoutAModuleToSwitchNamesNothing) {
  const Space space({{"layer.0", Levels{{1e-6, 1e-5}}, {}}},
                    {{"layer.0", 0, 0.0, {}}}, std::nullopt);
  const Frontier frontier =
      FrontierOf(space,
                 UniformTrials(space, 20,
                               [](const Point& p, Rng& rng) {
                                 return 0.5 + 0.1 * p[0] + 0.01 * rng.Normal();
                               }),
                 0.05);
  EXPECT_EQ(frontier.chosen, -1);
  EXPECT_THAT(frontier.verdict, testing::HasSubstr("no module can be both"));
}

TEST(Frontier, ItsIntervalsHoldAndItsChoiceIsRight) {
  if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  const Space space = Modules(4, 3);
  constexpr std::uint64_t kRuns = 20;
  double held = 0.0, named = 0.0, right = 0.0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const Frontier frontier =
        FrontierOf(space, UniformTrials(space, 50, Noisily, seed), 0.03);
    for (const FrontierSet& set : frontier.by_modules) {
      const double truth = Substitutes(set.point);
      held += set.predicted.lo80 <= truth && truth <= set.predicted.hi80;
    }
    if (frontier.chosen < 0) continue;
    named += 1.0;
    const auto& chosen =
        frontier.by_modules[static_cast<std::size_t>(frontier.chosen)];
    right += Substitutes({2, 2, 2, 2}) - Substitutes(chosen.point) <= 0.03;
  }
  EXPECT_GE(held / (5.0 * kRuns), 0.7);
  EXPECT_GE(right, 0.8 * named);
  EXPECT_GE(named, kRuns / 2);
}

// Only layers 1 and 3 matter, by whether they are trained.
double TwoSwitches(const Point& p, Rng& rng) {
  return 0.7 + 0.1 * (p[1] > 0.0) + 0.1 * (p[3] > 0.0) + 0.01 * rng.Normal();
}

// Whoever trains both has all there is; more modules win nothing.
TEST(Frontier, SetsThatAreEquallyGoodAreEnoughHoweverSmall) {
  if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  const Space space = Modules(7, 4);
  constexpr std::uint64_t kRuns = 8;
  std::vector<double> within(8, 0.0);  // by number trained
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const Frontier frontier =
        FrontierOf(space, UniformTrials(space, 300, TwoSwitches, seed), 0.0);
    for (std::size_t k = 0; k < within.size(); ++k) {
      within[k] += frontier.by_modules[k].within_tolerance_probability / kRuns;
    }
  }
  EXPECT_LT(within[1], 0.01);
  for (std::size_t k = 2; k < within.size(); ++k) {
    EXPECT_GT(within[k], 0.5) << k;
  }
}

// Nobody has seen layer.2 trained: it may be worth much.
TEST(Frontier, AModuleThatEveryTrialFrozeIsNotSaidToBeNeedless) {
  const Space space = Modules(4, 3);
  const History history = NeverTrained(UniformTrials(space, 60, Noisily), 2);
  const Frontier frontier = FrontierOf(space, history, 0.05);
  EXPECT_EQ(frontier.chosen, -1);
  EXPECT_THAT(frontier.verdict,
              testing::HasSubstr("no trial tells what freezing layer.2 costs"));
  for (const FrontierSet& set : frontier.by_modules) {
    const bool trains_it = std::find(set.trained.begin(), set.trained.end(),
                                     "layer.2") != set.trained.end();
    EXPECT_EQ(std::isnan(set.within_tolerance_probability), !trains_it);
  }
}

std::vector<AskedTrial> Ask(const Space& space, const History& history,
                            int count) {
  const auto asked = AskTrials(space, kAccuracy, history, {}, count);
  EXPECT_OK(asked);
  return *asked;
}

// Layer 0 was hardly ever trained, layer 1 was tried often.
TEST(AskTrials, AskWhatTheTrialsLeaveOpen) {
  const Space space = Modules(2, 3);
  Rng rng(4);
  History history;
  for (int number = 0; number < 40; ++number) {
    const Point point = {0.0, static_cast<double>(number % 3)};
    history.Put(
        Succeeded(number, point, 0.7 + 0.05 * point[1] + 0.01 * rng.Normal()));
  }
  const std::vector<AskedTrial> asked = Ask(space, history, 3);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_GT(asked[0].point[0], 0.0);
  EXPECT_GT(asked[0].expected_reduction, 0.2);
  EXPECT_GE(asked[1].expected_reduction, asked[0].expected_reduction);
  EXPECT_LE(asked[2].expected_reduction, 1.0);
  EXPECT_EQ(asked[0].reason, "tells whether layer.0 is worth training");
}

// All trials train nearly everything: whether two modules would do is what the
// next trials have to tell.
TEST(AskTrials, AskWhetherASmallSetThatNeverRanIsEnough) {
  const Space space = Modules(5, 3);
  const History all = UniformTrials(space, 90, TwoSwitches);
  History large;
  for (const Observation& trial : all.trials()) {
    if (std::count(trial.point.begin(), trial.point.end(), 0.0) > 1) continue;
    large.Put(trial);
  }
  ASSERT_GE(large.size(), 20u);
  const std::vector<AskedTrial> asked = Ask(space, large, 4);
  EXPECT_TRUE(std::any_of(asked.begin(), asked.end(), [](const auto& one) {
    return one.reason.starts_with("tells whether training") &&
           one.reason.ends_with("is enough");
  }));
}

TEST(Frontier, ASetThatCannotBeTrainedIsNeverEnough) {
  const Space space = Modules(2, 3);
  History history;
  const History even = UniformTrials(space, 60, [](const Point& p, Rng& rng) {
    return 0.8 + 0.05 * std::min(p[0], 1.0) + 0.01 * rng.Normal();
  });
  for (Observation trial : even.trials()) {
    if (trial.point[1] > 0.0) trial.state = TrialState::kInfeasible;
    if (trial.point[1] > 0.0) trial.values.clear();
    history.Put(trial);
  }
  const Frontier frontier = FrontierOf(space, history, 0.02);
  for (const FrontierSet& set : frontier.by_modules) {
    const bool trains_it =
        std::count(set.trained.begin(), set.trained.end(), "layer.1") > 0;
    if (trains_it) {
      EXPECT_FALSE(set.within_tolerance_probability > 0.1);
    }
  }
}

TEST(AskTrials, RunTrialsAgainOnWhichAnAnswerRests) {
  const Space space = Modules(3, 4);
  History history;
  const History even = UniformTrials(space, 30, [](const Point& p, Rng& rng) {
    return 0.8 + 0.01 * p[0] + 0.01 * rng.Normal();
  });
  for (Observation trial : even.trials()) {
    const bool is_bad = trial.number == 7 || trial.number == 19;
    trial.point[2] = is_bad ? 0.0 : std::max(trial.point[2], 1.0);
    if (is_bad) trial.values[0] = 0.6;
    history.Put(trial);
  }
  ASSERT_OK_AND_ASSIGN(const auto asked,
                       AskTrials(space, kAccuracy, history, PlanOptions{}, 3));
  ASSERT_GE(asked.size(), 2u);
  EXPECT_THAT(asked[0].reason,
              testing::HasSubstr("runs trial 7 again: that \"layer.2 "
                                 "matters most\" rests on it"));
  EXPECT_EQ(asked[0].point, history.trials()[7].point);
  EXPECT_EQ(asked[1].point, history.trials()[19].point);
}

TEST(AskTrials, AreInTheSpaceAndTheSameEveryTime) {
  const Space space = DemoSpace();
  const std::vector<AskedTrial> a = Ask(space, DemoHistory(), 6);
  const std::vector<AskedTrial> b = Ask(space, DemoHistory(), 6);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_OK(space.Check(a[k].point));
    EXPECT_TRUE(SamePoint(a[k].point, b[k].point));
    EXPECT_EQ(a[k].expected_reduction, b[k].expected_reduction);
  }
}

// What was asked is queued or running now: it is going to be told.
TEST(AskTrials, AskNothingThatIsQueuedOrRunning) {
  const Space space = DemoSpace();
  History history = DemoHistory();
  const std::vector<AskedTrial> first = Ask(space, history, 4);
  for (std::size_t k = 0; k < first.size(); ++k) {
    Observation open;
    open.number = static_cast<std::int64_t>(history.size());
    open.state = k % 2 == 0 ? TrialState::kQueued : TrialState::kRunning;
    open.point = first[k].point;
    history.Put(open);
  }
  const std::vector<AskedTrial> second = Ask(space, history, 4);
  ASSERT_EQ(second.size(), 4u);
  for (const AskedTrial& one : second) {
    for (const AskedTrial& open : first) {
      EXPECT_FALSE(SamePoint(one.point, open.point));
    }
  }
}

// An answer that is on its way is no longer the most telling one to ask for.
TEST(AskTrials, CountOnWhatOpenTrialsWillTell) {
  const Space space = Modules(2, 3);
  Rng rng(4);
  History history;
  for (int number = 0; number < 40; ++number) {
    const Point point = {static_cast<double>(number % 3), 0.0};
    history.Put(
        Succeeded(number, point, 0.7 + 0.05 * point[0] + 0.01 * rng.Normal()));
  }
  EXPECT_EQ(Ask(space, history, 1)[0].reason,
            "tells whether layer.1 is worth training");
  for (int k = 0; k < 60; ++k) {
    Observation open;
    open.number = 40 + k;
    open.state = TrialState::kQueued;
    open.point = {static_cast<double>(k % 3), 1.0 + k / 3 % 2};
    history.Put(open);
  }
  EXPECT_EQ(Ask(space, history, 1)[0].point[1], 0.0);
}

TEST(AskTrials, RefuseCountsThatMakeNoSense) {
  for (const int count : {0, -1, 101}) {
    const auto asked =
        AskTrials(DemoSpace(), kAccuracy, DemoHistory(), {}, count);
    ASSERT_TRUE(HasErrorId(asked.status(), ErrorId::kRequestInvalid));
    EXPECT_EQ(DetailOf(asked.status())->field, "count");
  }
}

TEST(PlanBasis, ServesPlanFrontierAndRivalsAsEachWouldServeItself) {
  const Space space = Modules(4, 4);
  const History history = UniformTrials(space, 60, Noisily);
  const PlanOptions options{.evaluate = {}, .tolerance = 0.06};
  ASSERT_OK_AND_ASSIGN(const auto basis,
                       MakePlanBasis(space, kAccuracy, history, options));
  ASSERT_OK_AND_ASSIGN(const StudyPlan plan, MakePlan(*basis, options));
  ASSERT_OK_AND_ASSIGN(const Frontier frontier, MakeFrontier(*basis, options));
  ASSERT_OK_AND_ASSIGN(const auto rivals, PlanRivals(*basis, options));
  ASSERT_OK_AND_ASSIGN(const StudyPlan alone,
                       MakePlan(space, kAccuracy, history, options));
  EXPECT_EQ(plan.verdict, alone.verdict);
  EXPECT_EQ(plan.predicted_score.lo95, alone.predicted_score.lo95);
  EXPECT_EQ(frontier.verdict, FrontierOf(space, history, 0.06).verdict);
  EXPECT_EQ(rivals[0].predicted.value, plan.predicted_score.value);
  EXPECT_EQ(rivals[0].one_run.lo95, plan.one_run.lo95);
  ASSERT_EQ(rivals[1].name, "best trial");
  EXPECT_EQ(rivals[1].predicted.hi80, plan.best_seen_score.hi80);
}

TEST(PlanRivals, ArePlanBestTrialAllTrainedAndHeadOnly) {
  const Space space = DemoSpace();
  ASSERT_OK_AND_ASSIGN(const std::vector<Rival> rivals,
                       PlanRivals(space, kAccuracy, DemoHistory(), {}));
  ASSERT_GE(rivals.size(), 3u);
  EXPECT_EQ(rivals[0].name, "plan");
  const auto named = [&rivals](const std::string& name) {
    return std::find_if(rivals.begin(), rivals.end(),
                        [&](const Rival& one) { return one.name == name; });
  };
  EXPECT_EQ(std::count(named("all trained")->point.begin(),
                       named("all trained")->point.end(), 0.0),
            0);
  EXPECT_TRUE(SamePoint(named("head only")->point, {0, 0, 0, 0, 0, 0, 0}));
  for (const Rival& one : rivals) {
    EXPECT_LE(one.predicted.hi95, 1.0);
    EXPECT_GE(one.one_run.hi80 - one.one_run.lo80, 0.0);
  }
}

}  // namespace
}  // namespace frostline::importance
