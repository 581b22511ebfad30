// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/study_plan.h"

#include <cmath>

#include "importance/marginal_curves.h"
#include "sampler/factory.h"
#include "study/space_builder.h"
#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"
#include "tests/support/watched.h"

namespace frostline {
namespace {

const std::vector<Objective> kScore = {{"accuracy", Direction::kMaximize}};
const std::vector<Objective> kLoss = {{"loss", Direction::kMinimize}};

Space Modules(int count, int levels) {
  std::vector<ModuleBinding> modules;
  for (int m = count; m-- > 0;) {
    modules.push_back({"layer." + std::to_string(m), m, 0.0, std::nullopt});
  }
  return Space(LevelSpace(count, levels).parameters(), modules, std::nullopt);
}

StudyPlan PlanOf(const Space& space, const std::vector<Objective>& goal,
                 const History& history, double tolerance = 0.0) {
  PlanOptions options;
  options.tolerance = tolerance;
  const auto plan = MakePlan(space, goal, history, options);
  EXPECT_OK(plan);
  return *plan;
}

const PlannedModule& ModuleOf(const StudyPlan& plan, const std::string& name) {
  return *std::find_if(
      plan.modules.begin(), plan.modules.end(),
      [&name](const PlannedModule& m) { return m.module == name; });
}

std::vector<std::string> CodesOf(const StudyPlan& plan) {
  std::vector<std::string> codes;
  for (const ReportWarning& warning : plan.warnings) {
    codes.push_back(warning.code);
  }
  return codes;
}

// Layers 1 and 3 matter, each best at its last level but one.
double TwoMatter(const Point& p) {
  return 0.9 - 0.01 * std::abs(p[1] - 4.0) - 0.02 * std::abs(p[3] - 4.0);
}
double TwoMatterNoisily(const Point& p, Rng& rng) {
  return TwoMatter(p) + 0.01 * rng.Normal();
}

TEST(StudyPlan, FreezesWhatDoesNothingAndTrainsTheRestAtItsBest) {
  const Space space = Modules(5, 6);
  const StudyPlan plan =
      PlanOf(space, kScore, UniformTrials(space, 300, TwoMatterNoisily));
  EXPECT_TRUE(SamePoint(plan.point, {0, 4, 0, 4, 0}));
  ASSERT_EQ(plan.modules.size(), 5u);
  EXPECT_EQ(plan.modules[0].module, "layer.0");  // in depth order
  EXPECT_EQ(plan.modules[3].rate, 4e-5);
  EXPECT_NEAR(plan.modules[3].cost_of_freezing.value, 0.08, 0.01);
  EXPECT_THAT(plan.modules[3].reason,
              testing::ContainsRegex("training it at 4e-05 is worth 0.0[78]"));
  EXPECT_TRUE(plan.modules[2].freeze);
  EXPECT_THAT(plan.modules[2].reason,
              testing::HasSubstr("no trial can tell it from frozen"));
  EXPECT_NEAR(plan.predicted_score.value, 0.9, 0.005);
  EXPECT_THAT(CodesOf(plan), testing::IsEmpty());
}

TEST(StudyPlan, LossesAreMinimisedAndCostsStayAboveZero) {
  const Space space = Modules(5, 6);
  const StudyPlan plan = PlanOf(
      space, kLoss, UniformTrials(space, 300, [](const Point& p, Rng& rng) {
        return 1.0 - TwoMatterNoisily(p, rng);
      }));
  EXPECT_TRUE(SamePoint(plan.point, {0, 4, 0, 4, 0}));
  EXPECT_NEAR(plan.modules[3].cost_of_freezing.value, 0.08, 0.01);
  EXPECT_NEAR(plan.predicted_score.value, 0.1, 0.005);
}

TEST(StudyPlan, IsTheSameToTheBitInWhateverOrderTrialsWereSeen) {
  const Space space = Modules(4, 5);
  const History history = UniformTrials(
      space, 60, [](const Point& p, Rng& g) { return p[1] + g.Normal(); });
  History backwards;
  for (std::size_t i = history.size(); i-- > 0;) {
    backwards.Put(history.trials()[i]);
  }
  const StudyPlan a = PlanOf(space, kScore, history);
  const StudyPlan b = PlanOf(space, kScore, backwards);
  EXPECT_TRUE(SamePoint(a.point, b.point));
  EXPECT_EQ(a.predicted_score.value, b.predicted_score.value);
  EXPECT_EQ(a.predicted_score.lo95, b.predicted_score.lo95);
  EXPECT_EQ(a.predicted_score.hi95, b.predicted_score.hi95);
  EXPECT_EQ(a.supporting_trials, b.supporting_trials);
}

// Alone, each of the two layers is best frozen; together they are not.
TEST(StudyPlan, ModulesThatOnlyHelpTogetherAreChosenTogether) {
  const Space space = Modules(4, 4);
  const StudyPlan plan = PlanOf(
      space, kScore, UniformTrials(space, 300, [](const Point& p, Rng& rng) {
        const double both = p[0] == 3.0 && p[1] == 3.0 ? 6.0 : 0.0;
        return both - 0.5 * p[0] - 0.5 * p[1] + p[2] + 0.2 * rng.Normal();
      }));
  EXPECT_EQ(plan.point[0], 3.0);
  EXPECT_EQ(plan.point[1], 3.0);
  EXPECT_NEAR(plan.predicted_score.value, 6.0, 0.6);
}

TEST(StudyPlan, ToleranceBuysMoreFrozenModulesAndNoMoreThanItSays) {
  const Space space = Modules(5, 6);
  const History history = UniformTrials(space, 300, TwoMatterNoisily);
  const StudyPlan plan = PlanOf(space, kScore, history, 0.05);
  EXPECT_TRUE(ModuleOf(plan, "layer.1").freeze);   // costs 0.04
  EXPECT_FALSE(ModuleOf(plan, "layer.3").freeze);  // costs 0.08
  EXPECT_THAT(ModuleOf(plan, "layer.1").reason,
              testing::HasSubstr("is tolerated"));
}

TEST(StudyPlan, TheBestTrialIsShrunkenForItsLuck) {
  const Space space = Modules(3, 5);
  double excess = 0.0, shrunken = 0.0, held = 0.0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const History history = UniformTrials(
        space, 80,
        [](const Point& p, Rng& g) { return p[0] + 2.0 * g.Normal(); }, seed);
    const StudyPlan plan = PlanOf(space, kScore, history);
    const Observation& best = *history.Find(plan.best_seen_trial);
    excess += (best.values[0] - best.point[0]) / 40.0;
    shrunken += (plan.best_seen_score.value - best.point[0]) / 40.0;
    held += plan.best_seen_score.lo95 <= best.point[0] &&
                    best.point[0] <= plan.best_seen_score.hi95
                ? 1.0 / 40.0
                : 0.0;
  }
  EXPECT_GT(excess, 2.0);
  EXPECT_LT(std::abs(shrunken), excess / 4.0);
  EXPECT_GE(held, 0.85);
}

TEST(StudyPlan, PredictionsHoldTheTrueScoreAsOftenAsTheySay) {
  if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  const Space space = Modules(5, 6);
  double held = 0.0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const StudyPlan plan = PlanOf(
        space, kScore, UniformTrials(space, 120, TwoMatterNoisily, seed));
    const double truth = TwoMatter(plan.point);
    held +=
        plan.predicted_score.lo95 <= truth && truth <= plan.predicted_score.hi95
            ? 1.0 / 60.0
            : 0.0;
  }
  EXPECT_GE(held, 0.88);
}

// Every layer matters by itself, best at its last level but one.
double AllMatter(const Point& p) {
  double score = 0.9;
  for (std::size_t m = 0; m < p.size(); ++m) {
    score -= 0.01 * static_cast<double>(m + 1) * std::abs(p[m] - 4.0);
  }
  return score;
}

// Trials of a sampler that seeks the best, as studies have them.
History TpeTrials(const Space& space, double noise, std::uint64_t seed) {
  SamplerSpec spec;
  spec.name = "tpe";
  spec.seed = seed;
  const auto sampler = MakeSampler(spec, space, kScore);
  History history;
  for (int number = 0; number < 150; ++number) {
    Rng rng(seed, static_cast<std::uint64_t>(number));
    const Point point = *(*sampler)->Propose(history, number, rng);
    const double score = AllMatter(point) + noise * rng.Normal();
    history.Put(Succeeded(number, point, score));
  }
  return history;
}

TEST(StudyPlan, OnTrialsOfASamplerPredictionsHoldAsOftenAsTheySay) {
  if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  const Space space = Modules(5, 6);
  double held = 0.0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const StudyPlan plan = PlanOf(space, kScore, TpeTrials(space, 0.05, seed));
    const double truth = AllMatter(plan.point);
    held +=
        plan.predicted_score.lo95 <= truth && truth <= plan.predicted_score.hi95
            ? 1.0 / 40.0
            : 0.0;
  }
  EXPECT_GE(held, 0.9);
}

// There is nothing to freeze and no interaction but by chance.
TEST(StudyPlan, InteractionsByChanceHardlyChangeThePlan) {
  if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  const Levels levels{{1e-6, 2e-6, 4e-6, 8e-6, 1.6e-5, 3.2e-5}};
  std::vector<Parameter> parameters;
  std::vector<ModuleBinding> modules;
  for (int m = 0; m < 5; ++m) {
    parameters.push_back({"p" + std::to_string(m), levels, {}});
    modules.push_back({"layer." + std::to_string(m), m, 0.0, {}});
  }
  const Space space(parameters, modules, std::nullopt);
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const History history = TpeTrials(space, 0.05, seed);
    const auto curves = MarginalCurves(space, kScore, history, {});
    ASSERT_OK(curves);
    Point apart;
    for (const MarginalCurve& curve : *curves) apart.push_back(curve.best);
    const StudyPlan plan = PlanOf(space, kScore, history);
    changed += SamePoint(plan.point, apart) ? 0 : 1;
  }
  EXPECT_LE(changed, 2);
}

TEST(StudyPlan, WhereNothingIsExplainedItPromisesNothing) {
  const Space space = Modules(4, 5);
  const History history = UniformTrials(
      space, 100, [](const Point&, Rng& rng) { return rng.Normal(); });
  const StudyPlan plan = PlanOf(space, kScore, history);
  EXPECT_THAT(CodesOf(plan), testing::Contains("NOTHING_EXPLAINED"));
  const Observation& best = *history.Find(plan.best_seen_trial);
  EXPECT_TRUE(SamePoint(plan.point, best.point));
  EXPECT_GT(best.values[0], 2.0);
  EXPECT_LT(plan.predicted_score.value, 0.5);
}

TEST(StudyPlan, TooFewTrialsToKnowFreezeHardlyAnything) {
  const Space space = Modules(5, 6);
  int frozen = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const StudyPlan plan = PlanOf(
        space, kScore,
        UniformTrials(
            space, 16,
            [](const Point& p, Rng& rng) { return p[1] + p[3] + rng.Normal(); },
            seed));
    EXPECT_THAT(CodesOf(plan), testing::Contains("FEW_TRIALS"));
    frozen += ModuleOf(plan, "layer.1").freeze ? 1 : 0;
    frozen += ModuleOf(plan, "layer.3").freeze ? 1 : 0;
  }
  EXPECT_LE(frozen, 8);  // of 40; each is worth half of the range
}

TEST(StudyPlan, ASmallLossThatIsCertainIsNotForFree) {
  const Space space = Modules(3, 4);
  const StudyPlan plan = PlanOf(
      space, kScore, UniformTrials(space, 200, [](const Point& p, Rng& rng) {
        return p[0] + (p[1] > 0.0 ? 0.015 : 0.0) + 0.001 * rng.Normal();
      }));
  EXPECT_FALSE(ModuleOf(plan, "layer.1").freeze);  // 0.5 % of the range
  EXPECT_TRUE(ModuleOf(plan, "layer.2").freeze);
}

TEST(StudyPlan, AModuleWhoseRateIsAbsentIsFrozen) {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  const Space space({{"adapter", Categorical{{"false", "true"}}, {}},
                     {"rate", Levels{{1e-6, 1e-5}}, when}},
                    {{"layer.0", 1, 0.0, {}}}, std::nullopt);
  const auto plan_if = [&space](double worth) {
    return PlanOf(space, kScore,
                  UniformTrials(space, 80, [worth](const Point& p, Rng& rng) {
                    return worth * p[0] + 0.1 * rng.Normal();
                  }));
  };
  EXPECT_TRUE(ModuleOf(plan_if(-1.0), "layer.0").freeze);
  const StudyPlan trained = plan_if(1.0);
  EXPECT_FALSE(ModuleOf(trained, "layer.0").freeze);
  EXPECT_NEAR(ModuleOf(trained, "layer.0").cost_of_freezing.value, 1.0, 0.1);
}

// Embeddings and layers below the depth are frozen; layers have no level 0.
TEST(StudyPlan, APrefixDepthFreezesWhatLiesBelowIt) {
  SpaceBuilder builder({.num_layers = 4});
  builder.FixModules("pooler", 1e-4, "p");
  builder.FixModules("head", 1e-3, "h");
  builder.AddModules("layer.*", Levels{{1e-6, 1e-5, 1e-4}}, "m");
  builder.SetPrefixDepth(0, 4, "d");
  ASSERT_OK_AND_ASSIGN(const Space space, builder.Build());
  const auto score = [&space](const Point& p, Rng& rng) {
    double sum = 0.0;
    for (const ModuleRate& rate : space.Rates(p)) {
      if (rate.module == "layer.2" || rate.module == "layer.3") {
        sum += rate.rate == 1e-5 ? 2.0 : rate.rate > 0.0 ? 1.0 : 0.0;
      }
    }
    return sum + 0.3 * rng.Normal();
  };
  const StudyPlan plan =
      PlanOf(space, kScore, UniformTrials(space, 400, score, 2));
  EXPECT_OK(space.Check(plan.point));
  EXPECT_TRUE(ModuleOf(plan, "embeddings").freeze);
  EXPECT_TRUE(ModuleOf(plan, "layer.0").freeze);
  EXPECT_TRUE(ModuleOf(plan, "layer.1").freeze);
  EXPECT_EQ(ModuleOf(plan, "layer.2").rate, 1e-5);
  EXPECT_EQ(ModuleOf(plan, "layer.3").rate, 1e-5);
  EXPECT_GT(ModuleOf(plan, "layer.3").cost_of_freezing.lo95, 0.5);
  EXPECT_THAT(ModuleOf(plan, "head").reason,
              testing::HasSubstr("the study trains it at 0.001"));
  EXPECT_TRUE(std::isnan(ModuleOf(plan, "head").cost_of_freezing.value));
}

TEST(StudyPlan, WithoutALevelThatFreezesAModuleIsTrained) {
  const Space space({{"a", Levels{{1e-6, 1e-5}}, {}},
                     {"b", LogUniform{1e-6, 1e-3, true}, {}},
                     {"batch", Categorical{{"16", "32"}}, {}}},
                    {{"head", 1, 0.0, {}},
                     {"layer.0", 0, 0.0, {}},
                     {"layer.1", 0, 0.0, {}},
                     {"pooler", std::nullopt, 0.0, {}}},
                    std::nullopt);
  const StudyPlan plan = PlanOf(
      space, kScore, UniformTrials(space, 200, [](const Point& p, Rng& rng) {
        const double rate = p[1] == 0.0 ? -7.0 : std::log10(p[1]);
        return 0.2 * p[0] + p[2] - std::abs(rate + 4.0) + 0.1 * rng.Normal();
      }));
  EXPECT_EQ(plan.point[2], 1.0);  // the batch size is set to its best
  EXPECT_NEAR(std::log10(ModuleOf(plan, "head").rate), -4.0, 0.3);
  EXPECT_NEAR(ModuleOf(plan, "head").cost_of_freezing.value, 3.0, 0.3);
  for (const char* const tied : {"layer.0", "layer.1"}) {
    EXPECT_EQ(ModuleOf(plan, tied).rate, 1e-5);
    EXPECT_TRUE(std::isnan(ModuleOf(plan, tied).cost_of_freezing.value));
    EXPECT_THAT(ModuleOf(plan, tied).reason,
                testing::HasSubstr("no level that freezes it"));
  }
  EXPECT_EQ(ModuleOf(plan, "pooler").reason, "the study keeps it frozen");
}

TEST(StudyPlan, SaysWhichTrialsSupportItAndWhatItSaves) {
  const Space space = Modules(5, 6);
  const History free = UniformTrials(space, 300, TwoMatterNoisily);
  History history;
  for (Observation trial : free.trials()) {
    for (const double level : trial.point) {
      trial.trained_parameters += level == 0.0 ? 0.0 : 1000.0;
    }
    trial.cost_s = 5.0 + trial.trained_parameters / 1000.0;
    history.Put(trial);
  }
  const StudyPlan plan = PlanOf(space, kScore, history);
  EXPECT_NEAR(plan.trained_parameters_saved, 3000.0, 1e-6);
  EXPECT_NEAR(plan.seconds_saved_share, 0.3, 1e-6);
  ASSERT_EQ(plan.supporting_trials.size(), 5u);
  for (const std::int64_t number : plan.supporting_trials) {
    EXPECT_EQ(history.Find(number)->point[1], 4.0);
    EXPECT_EQ(history.Find(number)->point[3], 4.0);
  }
}

TEST(StudyPlan, BadRequestsAreRefusedByName) {
  const Space space = Modules(2, 4);
  const History history =
      UniformTrials(space, 30, [](const Point& p, Rng&) { return p[0]; });
  for (const double tolerance : {-1.0, std::nan(""), HUGE_VAL}) {
    PlanOptions options;
    options.tolerance = tolerance;
    const auto plan = MakePlan(space, kScore, history, options);
    ASSERT_TRUE(HasErrorId(plan.status(), ErrorId::kRequestInvalid));
    EXPECT_EQ(DetailOf(plan.status())->field, "options.tolerance");
  }
  EXPECT_TRUE(
      HasErrorId(MakePlan(LevelSpace(2, 4), kScore, history, {}).status(),
                 ErrorId::kRequestInvalid));
  EXPECT_TRUE(HasErrorId(MakePlan(space, kScore, History(), {}).status(),
                         ErrorId::kTrialsTooFew));
}

}  // namespace
}  // namespace frostline
