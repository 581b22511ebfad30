// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/study_plan.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "importance/plan/plan_trials.h"
#include "importance/plan/study_belief.h"
#include "sampler/factory.h"
#include "study/space_builder.h"
#include "tests/importance/plan/plan_trials.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"
#include "tests/support/watched.h"

namespace frostline::importance {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<Objective> kNumber = {{"score", Direction::kMaximize}};

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

std::vector<std::string> PlanCodesOf(const StudyPlan& plan) {
  std::vector<std::string> codes;
  for (const ReportWarning& warning : plan.warnings) {
    codes.push_back(warning.code);
  }
  return codes;
}

bool Holds80(const Interval& interval, double value) {
  return interval.lo80 <= value && value <= interval.hi80;
}

TEST(StudyPlan, FreezesWhatTheToleranceCoversAndTrainsTheRestAtItsBest) {
  const Space space = Modules(5, 6);
  const StudyPlan plan = PlanOf(
      space, kAccuracy, UniformTrials(space, 200, TwoMatterNoisily), 0.02);
  EXPECT_TRUE(SamePoint(plan.point, {0, 4, 0, 4, 0}));
  ASSERT_EQ(plan.modules.size(), 5u);
  EXPECT_EQ(plan.modules[0].module, "layer.0");  // in depth order
  EXPECT_EQ(plan.modules[2].advice, Advice::kFreeze);
  EXPECT_EQ(plan.modules[3].advice, Advice::kTrain);
  EXPECT_EQ(plan.modules[3].rate, 4e-5);
  EXPECT_NEAR(plan.modules[3].cost_of_freezing.value, 0.08, 0.015);
  EXPECT_THAT(plan.modules[3].reason,
              testing::ContainsRegex("training it at 4e-05 is worth 0.0[78]"));
  EXPECT_THAT(plan.modules[2].reason,
              testing::HasSubstr("at most the tolerated 0.02"));
  EXPECT_THAT(plan.verdict, testing::HasSubstr("train layer.1, layer.3"));
  EXPECT_NEAR(plan.predicted_score.value, 0.9, 0.01);
}

TEST(StudyPlan, WithoutToleranceNothingIsFrozenThatMayCostSomething) {
  const Space space = Modules(5, 6);
  const StudyPlan plan =
      PlanOf(space, kAccuracy, UniformTrials(space, 100, TwoMatterNoisily));
  EXPECT_EQ(ModuleOf(plan, "layer.3").advice, Advice::kTrain);
  const PlannedModule& free = ModuleOf(plan, "layer.2");
  EXPECT_EQ(free.advice, Advice::kNotKnown);
  EXPECT_GT(free.freeze_probability, 0.0);
  EXPECT_LT(free.freeze_probability, 0.9);
  EXPECT_THAT(free.reason, testing::HasSubstr("not known: freezing it costs"));
}

// What the plan trains though freezing it would do as well, by itself.
bool IsEither(const PlannedModule& module) {
  return module.reason.starts_with("by itself it could be frozen, too; ");
}

// Probability and interval are of one comparison: neither denies the other.
void ExpectToAgree(const PlannedModule& module, double tolerance) {
  if (std::isnan(module.freeze_probability)) return;
  const Interval& cost = module.cost_of_freezing;
  const double safe = module.freeze_probability;
  EXPECT_EQ(safe >= 0.9, cost.hi80 <= tolerance) << module.module;
  EXPECT_EQ(safe > 0.1, cost.lo80 <= tolerance) << module.module;
  EXPECT_EQ(safe > 0.5, cost.value <= tolerance) << module.module;
  EXPECT_EQ(safe > 0.025, cost.lo95 <= tolerance) << module.module;
  EXPECT_EQ(module.advice == Advice::kFreeze, module.freeze && safe >= 0.9);
  EXPECT_EQ(module.advice == Advice::kTrain,
            !module.freeze && cost.lo80 > tolerance);
  EXPECT_EQ(IsEither(module), !module.freeze && safe >= 0.9) << module.reason;
}

TEST(StudyPlan, WhatFreezingCostsAndHowSureThatIsNeverContradict) {
  const Space space = Modules(5, 6);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const History history = UniformTrials(space, 40, TwoMatterNoisily, seed);
    for (const double tolerance : {0.0, 0.01, 0.05}) {
      const StudyPlan plan = PlanOf(space, kAccuracy, history, tolerance);
      if (tolerance > 0.0) {
        EXPECT_EQ(plan.tolerance, tolerance);
      }
      for (const PlannedModule& module : plan.modules) {
        ExpectToAgree(module, plan.tolerance);
      }
    }
  }
  const StudyPlan of_demo = PlanOf(DemoSpace(), kAccuracy, DemoHistory());
  for (const PlannedModule& module : of_demo.modules) {
    ExpectToAgree(module, of_demo.tolerance);
  }
}

TEST(StudyPlan, WhatCouldBeFrozenTooIsNoneThatIsNotKnown) {
  const Space space = Modules(5, 6);
  int told = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const StudyPlan plan =
        PlanOf(space, kAccuracy,
               UniformTrials(space, 40, TwoMatterNoisily, seed), 0.05);
    const bool has_one =
        std::any_of(plan.modules.begin(), plan.modules.end(), IsEither);
    EXPECT_EQ(plan.verdict.find("could be frozen") != std::string::npos,
              has_one)
        << plan.verdict;
    told += has_one ? 1 : 0;
  }
  EXPECT_GT(told, 0);
}

// As `Probability` of the command line rounds them, in the line below.
TEST(StudyPlan, ChancesAreRoundedAsPercentagesAre) {
  EXPECT_EQ(SayChance(0.615), "0.62");
  EXPECT_EQ(SayChance(0.955), "0.96");
  EXPECT_EQ(SayChance(1.0), "0.99");
  EXPECT_EQ(SayChance(0.0), "0.01");
}

TEST(StudyPlan, LossesAreMinimised) {
  const Space space = Modules(5, 6);
  const StudyPlan plan = PlanOf(
      space, kLoss, UniformTrials(space, 200, [](const Point& p, Rng& rng) {
        return 1.0 - TwoMatterNoisily(p, rng);
      }));
  EXPECT_EQ(plan.point[1], 4.0);
  EXPECT_EQ(plan.point[3], 4.0);
  EXPECT_NEAR(plan.modules[3].cost_of_freezing.value, 0.08, 0.015);
  EXPECT_NEAR(plan.predicted_score.value, 0.1, 0.01);
  EXPECT_GT(plan.predicted_score.lo95, 0.0);
}

TEST(StudyPlan, IsTheSameToTheBitInWhateverOrderTrialsWereSeen) {
  const Space space = Modules(4, 5);
  const History history = UniformTrials(
      space, 60, [](const Point& p, Rng& g) { return p[1] + g.Normal(); });
  History backwards;
  for (std::size_t i = history.size(); i-- > 0;) {
    backwards.Put(history.trials()[i]);
  }
  const StudyPlan a = PlanOf(space, kNumber, history);
  const StudyPlan b = PlanOf(space, kNumber, backwards);
  EXPECT_TRUE(SamePoint(a.point, b.point));
  EXPECT_EQ(a.predicted_score.value, b.predicted_score.value);
  EXPECT_EQ(a.one_run.lo95, b.one_run.lo95);
  EXPECT_EQ(a.supporting_trials, b.supporting_trials);
  EXPECT_EQ(a.verdict, b.verdict);
}

// Alone, each of the two layers is best frozen; together they are not.
TEST(StudyPlan, ModulesThatOnlyHelpTogetherAreChosenTogether) {
  const Space space = Modules(4, 4);
  const StudyPlan plan = PlanOf(
      space, kNumber, UniformTrials(space, 200, [](const Point& p, Rng& rng) {
        const double both = p[0] == 3.0 && p[1] == 3.0 ? 6.0 : 0.0;
        return both - 0.5 * p[0] - 0.5 * p[1] + p[2] + 0.2 * rng.Normal();
      }));
  EXPECT_EQ(plan.point[0], 3.0);
  EXPECT_EQ(plan.point[1], 3.0);
  EXPECT_NEAR(plan.predicted_score.value, 6.0, 0.6);
}

TEST(StudyPlan, ToleranceBuysMoreFrozenModulesAndNoMoreThanItSays) {
  const Space space = Modules(5, 6);
  const History history = UniformTrials(space, 200, TwoMatterNoisily);
  const StudyPlan plan = PlanOf(space, kAccuracy, history, 0.06);
  EXPECT_TRUE(ModuleOf(plan, "layer.1").freeze);   // costs 0.04
  EXPECT_FALSE(ModuleOf(plan, "layer.3").freeze);  // costs 0.08
  EXPECT_EQ(ModuleOf(plan, "layer.1").advice, Advice::kFreeze);
}

TEST(StudyPlan, TheBestTrialIsShrunkenForItsLuck) {
  const Space space = Modules(3, 5);
  constexpr int kRuns = 15;
  double excess = 0.0, shrunken = 0.0, held = 0.0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const History history = UniformTrials(
        space, 60,
        [](const Point& p, Rng& g) { return p[0] + 2.0 * g.Normal(); }, seed);
    const StudyPlan plan = PlanOf(space, kNumber, history);
    const Observation& best = *history.Find(plan.best_seen_trial);
    EXPECT_EQ(plan.best_seen_value, best.values[0]);
    excess += (best.values[0] - best.point[0]) / kRuns;
    shrunken += (plan.best_seen_score.value - best.point[0]) / kRuns;
    held += Holds80(plan.best_seen_score, best.point[0]) ? 1.0 / kRuns : 0.0;
  }
  EXPECT_GT(excess, 2.0);
  EXPECT_LT(std::abs(shrunken), excess / 3.0);
  EXPECT_GE(held, 0.6);
}

// Trials of a sampler that seeks the best, as studies have them.
History TpeTrials(const Space& space, int trials, std::uint64_t seed) {
  sampler::SamplerSpec spec;
  spec.name = "tpe";
  spec.seed = seed;
  const auto sampler = sampler::MakeSampler(spec, space, kAccuracy);
  History history;
  for (int number = 0; number < trials; ++number) {
    Rng rng(seed, static_cast<std::uint64_t>(number));
    const Point point = *(*sampler)->Propose(history, number, rng);
    const double score = Substitutes(point) + 0.01 * rng.Normal();
    history.Put(Succeeded(number, point, std::min(score, 1.0)));
  }
  return history;
}

TEST(StudyPlan, WhoFollowsItIsNoWorseOffAndSeesWhatItPromised) {
  if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  const Space space = Modules(4, 4);
  constexpr int kRuns = 24;
  double held = 0.0, no_worse = 0.0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const History history = TpeTrials(space, 40, seed);
    const StudyPlan plan = PlanOf(space, kAccuracy, history);
    const double truth = Substitutes(plan.point);
    const double best = Substitutes(history.Find(plan.best_seen_trial)->point);
    held += Holds80(plan.predicted_score, truth) ? 1.0 / kRuns : 0.0;
    no_worse += truth >= best - plan.tolerance ? 1.0 / kRuns : 0.0;
    EXPECT_GE(plan.at_least_best_probability, 0.75);
    EXPECT_LE(plan.one_run.hi95, 1.0);
  }
  EXPECT_GE(held, 0.65);
  EXPECT_GE(no_worse, 0.9);
}

TEST(StudyPlan, OfTheDemoPromisesNothingImpossible) {
  const StudyPlan plan = PlanOf(DemoSpace(), kAccuracy, DemoHistory());
  EXPECT_LE(plan.predicted_score.hi95, 1.0);
  EXPECT_LT(plan.predicted_score.value, 0.94);
  EXPECT_EQ(plan.best_seen_value, 0.93);
  EXPECT_EQ(plan.best_seen_trial, 4);
  EXPECT_LE(plan.differs_in, 2);
  for (const PlannedModule& module : plan.modules) {
    const bool is_head = module.module == "head";
    EXPECT_EQ(module.advice == Advice::kFixed, is_head) << module.module;
  }
}

// A plan of old took these for 1.087 (1.044 to 1.130); they were run.
TEST(StudyPlan, OfTheDemoHoldsWhatWasRun) {
  const Space space = DemoSpace();
  const History history = DemoHistory();
  ASSERT_OK_AND_ASSIGN(const StudyBelief belief,
                       Believe(space, kAccuracy, history, {}));
  const std::vector<PlanChoice> ran = {{0, 3, 3, 0, 3, 0, 0},
                                       {2, 3, 3, 0, 3, 0, 0},
                                       {0, 3, 3, 3, 3, 0, 0},
                                       {2, 3, 3, 3, 3, 0, 0}};
  const WorthDraws draws = belief.Draw(ran, 400);
  const Optimism optimism = FindOptimism(belief, belief.surrogate().LeftOut());
  for (std::size_t p = 0; p < ran.size(); ++p) {
    const Interval run =
        PredictRun(belief, WithoutOptimism(draws, p, optimism), optimism);
    EXPECT_TRUE(Holds80(run, 0.86)) << run.lo80 << " to " << run.hi80;
  }
}

TEST(PlanRivals, HeadOnlyTrainsTheHeadsOfAllTasks) {
  const Space space(LevelSpace(3, 4).parameters(),
                    {{"layer.0", 0, 0.0, std::nullopt},
                     {"head.sst", 1, 0.0, std::nullopt},
                     {"head.sts", 2, 0.0, std::nullopt}},
                    std::nullopt);
  const auto heads_matter = [](const Point& p, Rng& rng) {
    return 0.5 + 0.1 * std::min(p[1], 1.0) + 0.1 * std::min(p[2], 1.0) +
           0.05 * std::min(p[0], 1.0) + 0.002 * rng.Normal();
  };
  ASSERT_OK_AND_ASSIGN(
      const std::vector<Rival> rivals,
      PlanRivals(space, kAccuracy, UniformTrials(space, 60, heads_matter), {}));
  const auto head_only = std::find_if(
      rivals.begin(), rivals.end(),
      [](const Rival& rival) { return rival.name == "head only"; });
  ASSERT_NE(head_only, rivals.end());
  EXPECT_EQ(head_only->point[0], 0.0);
  EXPECT_GT(head_only->point[1], 0.0);
  EXPECT_GT(head_only->point[2], 0.0);
}

// Trials have shown the set's own noise already: all have its rows.
TEST(StudyPlan, OneRunIsForecastOnTheSetThatTrialsHad) {
  PlanOptions options;
  options.tolerance = 0.01;  // rows tell the one that is in force otherwise
  ASSERT_OK_AND_ASSIGN(
      const StudyPlan without,
      MakePlan(DemoSpace(), kAccuracy, DemoHistory(), options));
  options.evaluation_rows = 50;
  ASSERT_OK_AND_ASSIGN(const StudyPlan with, MakePlan(DemoSpace(), kAccuracy,
                                                      DemoHistory(), options));
  EXPECT_EQ(with.one_run.lo80, without.one_run.lo80);
  EXPECT_LT(with.one_run.lo80, with.predicted_score.lo80);
}

TEST(StudyPlan, RefusesFewerRowsThanNone) {
  PlanOptions options;
  options.evaluation_rows = -1;
  const auto refused = MakePlan(DemoSpace(), kAccuracy, DemoHistory(), options);
  ASSERT_TRUE(HasErrorId(refused.status(), ErrorId::kRequestInvalid));
  EXPECT_EQ(DetailOf(refused.status())->field, "options.evaluation_rows");
}

TEST(StudyPlan, AMetricThatLeavesItsRangeIsSaidAndBoundToNone) {
  const Space space = Modules(3, 4);
  const StudyPlan plan = PlanOf(
      space, kAccuracy, UniformTrials(space, 40, [](const Point& p, Rng& rng) {
        return 80.0 + 5.0 * p[0] + rng.Normal();  // in per cent
      }));
  EXPECT_THAT(PlanCodesOf(plan), testing::Contains("METRIC_OUT_OF_RANGE"));
  EXPECT_NEAR(plan.predicted_score.value, 95.0, 1.5);
}

TEST(StudyPlan, TrialsThatDivergedInformIt) {
  const Space space = Modules(2, 4);
  History history = UniformTrials(space, 40, [](const Point& p, Rng& rng) {
    return 0.5 + 0.1 * std::min(p[0], 2.0) + 0.01 * rng.Normal();
  });
  History bare;
  for (Observation trial : history.trials()) {
    if (trial.point[1] == 3.0) {
      trial.state = TrialState::kInfeasible;
      trial.values.clear();
      bare.Put(trial);
      continue;
    }
    bare.Put(trial);
  }
  ASSERT_OK_AND_ASSIGN(const StudyBelief belief,
                       Believe(space, kAccuracy, bare, {}));
  EXPECT_GT(belief.rows().rows.size(), belief.trials());
  EXPECT_LT(belief.surrogate().At(belief.rows().CellsOf({3, 3})).mean,
            belief.surrogate().At(belief.rows().CellsOf({3, 2})).mean);
  const StudyPlan plan = PlanOf(space, kAccuracy, bare);
  EXPECT_LT(plan.point[1], 3.0);
  EXPECT_THAT(PlanCodesOf(plan), testing::Contains("TRIALS_DIVERGED"));
}

// Who trains layer.1 diverges; training layer.0 is worth something.
History DivergesIfTrained(const Space& space) {
  const History even = UniformTrials(space, 60, [](const Point& p, Rng& rng) {
    return 0.8 + 0.03 * std::min(p[0], 1.0) + 0.01 * rng.Normal();
  });
  History history;
  for (Observation trial : even.trials()) {
    if (trial.point[1] > 0.0) {
      trial.state = TrialState::kInfeasible;
      trial.values.clear();
    }
    history.Put(trial);
  }
  return history;
}

TEST(StudyPlan, WhatAlwaysDivergesIsFrozenAndSaidFirst) {
  const Space space = Modules(2, 3);
  const StudyPlan plan = PlanOf(space, kAccuracy, DivergesIfTrained(space));
  const PlannedModule& layer1 = ModuleOf(plan, "layer.1");
  EXPECT_EQ(layer1.advice, Advice::kFreeze);
  EXPECT_THAT(layer1.reason,
              testing::HasSubstr("layer.1 decides whether a run survives: "));
  EXPECT_EQ(PlanCodesOf(plan)[0], "DECIDES_SURVIVAL");
}

TEST(PlanRivals, WhoCannotBeTrainedIsNone) {
  const Space space = Modules(2, 3);
  ASSERT_OK_AND_ASSIGN(
      const auto rivals,
      PlanRivals(space, kAccuracy, DivergesIfTrained(space), PlanOptions{}));
  for (const Rival& rival : rivals) {
    EXPECT_EQ(rival.point[1], 0.0) << rival.name;
  }
}

TEST(StudyPlan, WhereNothingIsExplainedItPromisesNothing) {
  const Space space = Modules(4, 5);
  const History history = UniformTrials(
      space, 60, [](const Point&, Rng& rng) { return rng.Normal(); }, 3);
  const StudyPlan plan = PlanOf(space, kNumber, history);
  EXPECT_THAT(PlanCodesOf(plan), testing::Contains("NOTHING_EXPLAINED"));
  const Observation& best = *history.Find(plan.best_seen_trial);
  EXPECT_GT(best.values[0], 1.5);
  EXPECT_LT(plan.predicted_score.value, 1.0);
  for (const PlannedModule& module : plan.modules) {
    EXPECT_NE(module.advice, Advice::kTrain);
  }
}

// What nobody could notice does not keep a module in training.
TEST(StudyPlan, WithoutBeingAskedItFreezesWhatCostsLessThanTheNoise) {
  const Space space = Modules(5, 6);
  const StudyPlan plan =
      PlanOf(space, kAccuracy, UniformTrials(space, 400, TwoMatterNoisily));
  EXPECT_GT(plan.tolerance, 0.004);
  EXPECT_LT(plan.tolerance, 0.02);  // the noise is .01
  int frozen = 0;
  for (const char* const name : {"layer.0", "layer.2", "layer.4"}) {
    EXPECT_GE(ModuleOf(plan, name).freeze_probability, 0.9) << name;
    frozen += ModuleOf(plan, name).advice == Advice::kFreeze ? 1 : 0;
  }
  EXPECT_GE(frozen, 2);  // together they may cost too much
  EXPECT_EQ(ModuleOf(plan, "layer.3").advice, Advice::kTrain);
}

TEST(StudyPlan, AnEvaluationSetOfFewRowsHidesMore) {
  PlanOptions options;
  options.evaluation_rows = 50;
  ASSERT_OK_AND_ASSIGN(const StudyPlan plan, MakePlan(DemoSpace(), kAccuracy,
                                                      DemoHistory(), options));
  // sqrt(.92 * .08 / 50)
  EXPECT_NEAR(plan.tolerance, 0.038, 0.004);
}

TEST(StudyPlan, TheObjectiveSaysWhatDoesNotMatterUnlessOneIsAsked) {
  std::vector<Objective> objectives = kAccuracy;
  objectives[0].tolerance = 0.03;
  const Space space = DemoSpace();
  EXPECT_EQ(PlanOf(space, objectives, DemoHistory()).tolerance, 0.03);
  EXPECT_EQ(PlanOf(space, objectives, DemoHistory(), 0.02).tolerance, 0.02);
}

// It may be worth as much as any other: no trial tells.
TEST(StudyPlan, OfAModuleThatEveryTrialFrozeNothingIsKnown) {
  const Space space = Modules(5, 6);
  const History history =
      NeverTrained(UniformTrials(space, 60, TwoMatterNoisily), 2);
  const PlannedModule module =
      ModuleOf(PlanOf(space, kAccuracy, history), "layer.2");
  EXPECT_EQ(module.advice, Advice::kNotKnown);
  EXPECT_TRUE(std::isnan(module.freeze_probability));
  EXPECT_EQ(module.reason, "not known: every trial froze it");
}

// Counts, over ten seeds of 16 noisy trials, how often the plan freezes one of
// the two modules that are worth half of the range each.
int TimesWronglyFrozen(double tolerance) {
  const Space space = Modules(5, 6);
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const StudyPlan plan = PlanOf(
        space, kNumber,
        UniformTrials(
            space, 16,
            [](const Point& p, Rng& rng) { return p[1] + p[3] + rng.Normal(); },
            seed),
        tolerance);
    EXPECT_THAT(PlanCodesOf(plan), testing::Contains("FEW_TRIALS"));
    for (const char* const name : {"layer.1", "layer.3"}) {
      wrong += ModuleOf(plan, name).advice == Advice::kFreeze ? 1 : 0;
    }
  }
  return wrong;
}

// Nothing matters, but the only two trials with layer.2 frozen went badly.
History TwoBadRuns(const Space& space) {
  const History even = UniformTrials(space, 36, [](const Point&, Rng& rng) {
    return 0.85 + 0.01 * rng.Normal();
  });
  History history;
  for (Observation trial : even.trials()) {
    const bool is_bad = trial.number == 7 || trial.number == 19;
    trial.point[2] = is_bad ? 0.0 : std::max(trial.point[2], 1.0);
    if (is_bad) trial.values[0] = 0.7;
    history.Put(trial);
  }
  return history;
}

TEST(StudyPlan, WhatTwoTrialsAloneSayIsNotKnown) {
  const Space space = Modules(4, 4);
  ASSERT_OK_AND_ASSIGN(
      const StudyPlan plan,
      MakePlan(space, kAccuracy, TwoBadRuns(space), PlanOptions{}));
  const PlannedModule& layer2 = plan.modules[2];
  EXPECT_EQ(layer2.advice, Advice::kNotKnown);
  EXPECT_EQ(layer2.rests_on, (std::vector<std::int64_t>{7, 19}));
  EXPECT_EQ(layer2.reason,
            "not known: what there is to say rests on trials 7 and 19; `plan "
            "--ask` runs such trials again");
}

TEST(StudyPlan, TooFewTrialsGiveNoAdviceToFreeze) {
  EXPECT_LE(TimesWronglyFrozen(0.0), 1);  // of 20
}

TEST(StudyPlan, ToleratingLittleFreezesNothingThatMattersOfTooFewTrials) {
  EXPECT_LE(TimesWronglyFrozen(0.5), 1);  // of 20; each is worth 5
}

// What the plan does is picked because it looked best. Without its luck it is
// as good as the other way, not worse: a plan that freezes what it says to cost
// something contradicts itself.
TEST(StudyPlan, LuckAloneDoesNotTurnAGainIntoACost) {
  const Space space = Modules(16, 2);
  int frozen = 0;
  int contradictions = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const StudyPlan plan = PlanOf(
        space, kNumber,
        UniformTrials(
            space, 120,
            [](const Point& p, Rng& rng) {
              return p[0] + 0.3 * (p[1] - p[2] + p[3] - p[4]) + rng.Normal();
            },
            seed));
    for (const PlannedModule& module : plan.modules) {
      if (!module.freeze) continue;
      const Interval& cost = module.cost_of_freezing;
      ++frozen;
      contradictions += cost.value > 0.1 * (cost.hi80 - cost.lo80) ? 1 : 0;
    }
  }
  EXPECT_LE(4 * contradictions, frozen);  // of luck taken off whole 17 of 28
}

TEST(StudyPlan, OnePointOverAndOverIsThePlanAndTeachesNothingElse) {
  const Space space = Modules(3, 4);
  History history;
  Rng rng(1);
  for (int number = 0; number < 500; ++number) {
    history.Put(Succeeded(number, {1, 2, 3}, 0.8 + 0.01 * rng.Normal()));
  }
  const StudyPlan plan = PlanOf(space, kAccuracy, history);
  EXPECT_TRUE(SamePoint(plan.point, {1, 2, 3}));
  EXPECT_NEAR(plan.predicted_score.value, 0.8, 0.01);
  EXPECT_EQ(plan.at_least_best_probability, 1.0);
  for (const PlannedModule& module : plan.modules) {
    EXPECT_EQ(module.advice, Advice::kNotKnown);
  }
}

TEST(StudyPlan, TooLittleToPlanWithIsRefused) {
  const Space wide = Modules(26, 4);
  const auto three =
      UniformTrials(wide, 3, [](const Point& p, Rng&) { return p[0]; });
  EXPECT_TRUE(HasErrorId(MakePlan(wide, kAccuracy, three, {}).status(),
                         ErrorId::kTrialsTooFew));
  const auto constant =
      UniformTrials(wide, 30, [](const Point&, Rng&) { return 0.9; });
  EXPECT_TRUE(HasErrorId(MakePlan(wide, kAccuracy, constant, {}).status(),
                         ErrorId::kTargetConstant));
}

TEST(StudyPlan, AModuleWhoseRateIsAbsentIsFrozen) {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  const Space space({{"adapter", Categorical{{"false", "true"}}, {}},
                     {"rate", Levels{{1e-6, 1e-5}}, when}},
                    {{"layer.0", 1, 0.0, {}}}, std::nullopt);
  const auto plan_if = [&space](double worth) {
    return PlanOf(space, kNumber,
                  UniformTrials(space, 60, [worth](const Point& p, Rng& rng) {
                    return worth * p[0] + 0.1 * rng.Normal();
                  }));
  };
  EXPECT_EQ(ModuleOf(plan_if(-1.0), "layer.0").advice, Advice::kFreeze);
  const StudyPlan trained = plan_if(1.0);
  EXPECT_EQ(ModuleOf(trained, "layer.0").advice, Advice::kTrain);
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
      PlanOf(space, kNumber, UniformTrials(space, 200, score, 2), 0.5);
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
      space, kNumber, UniformTrials(space, 150, [](const Point& p, Rng& rng) {
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
  const History free = UniformTrials(space, 150, TwoMatterNoisily);
  History history;
  for (Observation trial : free.trials()) {
    for (const double level : trial.point) {
      trial.trained_parameters += level == 0.0 ? 0.0 : 1000.0;
    }
    trial.cost_s = 5.0 + trial.trained_parameters / 1000.0;
    history.Put(trial);
  }
  const StudyPlan plan = PlanOf(space, kAccuracy, history, 0.02);
  EXPECT_NEAR(plan.trained_parameters_saved, 3000.0, 1e-6);
  EXPECT_NEAR(plan.seconds_saved_share, 0.3, 1e-6);
  ASSERT_EQ(plan.supporting_trials.size(), 5u);
  for (const std::int64_t number : plan.supporting_trials) {
    EXPECT_LE(std::abs(history.Find(number)->point[3] - 4.0), 1.0);
  }
  const Point& nearest = history.Find(plan.nearest_trial)->point;
  int differs = 0;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    differs += nearest[i] == plan.point[i] ? 0 : 1;
  }
  EXPECT_EQ(plan.differs_in, differs);
}

TEST(StudyPlan, BadRequestsAreRefusedByName) {
  const Space space = Modules(2, 4);
  const History history =
      UniformTrials(space, 30, [](const Point& p, Rng&) { return p[0]; });
  for (const double tolerance : {-1.0, std::nan(""), HUGE_VAL}) {
    PlanOptions options;
    options.tolerance = tolerance;
    const auto plan = MakePlan(space, kAccuracy, history, options);
    ASSERT_TRUE(HasErrorId(plan.status(), ErrorId::kRequestInvalid));
    EXPECT_EQ(DetailOf(plan.status())->field, "options.tolerance");
  }
  EXPECT_TRUE(
      HasErrorId(MakePlan(LevelSpace(2, 4), kAccuracy, history, {}).status(),
                 ErrorId::kRequestInvalid));
  EXPECT_TRUE(HasErrorId(MakePlan(space, kAccuracy, History(), {}).status(),
                         ErrorId::kTrialsTooFew));
}

// Three modules with rates of their own, and a head that is always trained.
Space Searched() {
  return Space(LevelSpace(3, 4).parameters(),
               {{"layer.0", 0, 0.0, {}},
                {"layer.1", 1, 0.0, {}},
                {"layer.2", 2, 0.0, {}},
                {"head", std::nullopt, 1e-3, {}}},
               std::nullopt);
}

constexpr double kWeights[] = {700.0, 701.0, 1200.0};

std::vector<Observation> SavedTrials(int count, double seconds_noise) {
  std::vector<Observation> trials;
  Rng rng(3);
  for (int i = 0; i < count; ++i) {
    Observation trial =
        Succeeded(i, sampler::DrawPoint(Searched(), 0.2, rng), 0.0);
    trial.trained_parameters = 50.0;
    trial.cost_s = 10.0 + seconds_noise * rng.Normal();
    for (std::size_t m = 0; m < 3; ++m) {
      if (trial.point[m] == 0.0) continue;
      trial.trained_parameters += kWeights[m];
      trial.cost_s += 10.0;
    }
    trials.push_back(std::move(trial));
  }
  return trials;
}

PlanSavings SavingsOf(const std::vector<Observation>& trials,
                      const Point& plan) {
  std::vector<const Observation*> pointers;
  for (const Observation& trial : trials) pointers.push_back(&trial);
  return EstimateSavings(Searched(), pointers, plan);
}

TEST(PlanSavings, WeightsComeOutExactlyAndSecondsAbout) {
  const PlanSavings savings = SavingsOf(SavedTrials(60, 1.0), {0, 3, 0});
  EXPECT_NEAR(savings.trained_parameters, 1900.0, 1e-6);
  EXPECT_NEAR(savings.seconds_share, 0.5, 0.05);
}

TEST(PlanSavings, APlanThatTrainsEverythingSavesNothing) {
  const PlanSavings savings = SavingsOf(SavedTrials(60, 1.0), {1, 3, 2});
  EXPECT_EQ(savings.trained_parameters, 0.0);
  EXPECT_EQ(savings.seconds_share, 0.0);
}

TEST(PlanSavings, WhatNoTrialFrozeIsNotKnown) {
  std::vector<Observation> never = SavedTrials(60, 1.0);
  for (Observation& trial : never) trial.point[1] = 2.0;
  EXPECT_TRUE(std::isnan(SavingsOf(never, {0, 0, 1}).trained_parameters));
  EXPECT_TRUE(std::isnan(SavingsOf(never, {0, 0, 1}).seconds_share));
}

TEST(PlanSavings, ModulesFrozenTogetherAreNotToldApart) {
  std::vector<Observation> together = SavedTrials(60, 1.0);
  for (Observation& trial : together) {
    if ((trial.point[0] == 0.0) == (trial.point[1] == 0.0)) continue;
    trial.point[1] = trial.point[0];
    trial.trained_parameters += trial.point[1] == 0.0 ? -701.0 : 701.0;
  }
  EXPECT_NEAR(SavingsOf(together, {0, 0, 1}).trained_parameters, 1401.0, 1e-6);
  EXPECT_TRUE(std::isnan(SavingsOf(together, {0, 1, 1}).trained_parameters));
}

TEST(PlanSavings, NoiseThatHidesTheSecondsIsSaid) {
  EXPECT_TRUE(
      std::isnan(SavingsOf(SavedTrials(12, 40.0), {0, 3, 0}).seconds_share));
  std::vector<Observation> silent = SavedTrials(30, 1.0);
  for (Observation& trial : silent) {
    trial.cost_s = 0.0;
    trial.trained_parameters = 0.0;
  }
  EXPECT_TRUE(std::isnan(SavingsOf(silent, {0, 3, 0}).seconds_share));
  EXPECT_TRUE(std::isnan(SavingsOf(silent, {0, 3, 0}).trained_parameters));
}

// Predictions from 1 to 3, of which `part` beyond their mean was seen.
Reach ReachOf(int trials, double part) {
  std::vector<double> predicted;
  std::vector<double> seen;
  for (int i = 0; i < trials; ++i) {
    predicted.push_back(1.0 + 2.0 * i / (trials - 1));
    const double noise = i % 2 == 0 ? 0.1 : -0.1;
    seen.push_back(2.0 + part * (predicted.back() - 2.0) + noise);
  }
  return FindReach(predicted, seen);
}

TEST(Reach, ManyTrialsTellThePart) {
  for (const double part : {0.3, 1.0}) {
    const Reach reach = ReachOf(100, part);
    EXPECT_NEAR(reach.part, part, 0.02);
    EXPECT_LT(reach.part_error, 0.03);
    EXPECT_NEAR(reach.usual, 2.0, 1e-9);
    EXPECT_EQ(reach.furthest, 3.0);
  }
}

TEST(Reach, FewTrialsLeaveItOpen) {
  const Reach none = FindReach({2.0, 2.0}, {1.0, 3.0});
  EXPECT_NEAR(none.part, 0.7, 1e-9);
  EXPECT_NEAR(none.part_error, 0.3, 1e-9);
  EXPECT_GT(ReachOf(6, 0.3).part_error, ReachOf(100, 0.3).part_error);
}

// Predictions from 1 to 3, whose runs have the variance e^(slope z) / 4 but for
// a constant.
NoiseTrend TrendOf(int trials, double slope) {
  Rng rng(7);
  std::vector<surrogate::Belief> left_out;
  std::vector<double> seen;
  for (int i = 0; i < trials; ++i) {
    const double z = (2.0 * i / (trials - 1) - 1.0) * std::sqrt(3.0);
    left_out.push_back({2.0 + z / std::sqrt(3.0), 0.26});
    seen.push_back(left_out.back().mean +
                   0.5 * std::exp(0.5 * slope * z) * rng.Normal());
  }
  return FindNoiseTrend(left_out, seen, 0.25);
}

TEST(NoiseTrend, ManyTrialsTellWhetherGoodRunsAreQuieter) {
  for (const double slope : {-1.0, 0.0, 1.0}) {
    const NoiseTrend trend = TrendOf(300, slope);
    EXPECT_NEAR(trend.slope, slope, 0.35);  // some of it is the prior
    const double best = NoiseFactor(trend, 3.0);
    EXPECT_NEAR(best, std::exp(trend.slope * std::sqrt(3.0)) / trend.usual,
                0.02);
    EXPECT_EQ(best, NoiseFactor(trend, 30.0));  // no further than trials went
  }
}

TEST(NoiseTrend, FewTrialsLeaveTheNoiseAsItIsEverywhere) {
  EXPECT_LT(std::abs(TrendOf(8, -1.0).slope), 0.8);
  EXPECT_EQ(FindNoiseTrend({{2.0, 0.3}}, {2.1}, 0.25).slope, 0.0);
  EXPECT_EQ(FindNoiseTrend({{2.0, 0.3}, {2.0, 0.3}}, {2.1, 1.9}, 0.25).slope,
            0.0);
  EXPECT_EQ(NoiseFactor({}, 5.0), 1.0);
}

TEST(Reach, WhatNoTrialReachedCountsInPartAgain) {
  const Reach reach = {.usual = 2.6, .furthest = 2.9, .part = 0.5};
  EXPECT_EQ(Reached(reach, 2.0, 0.5), 2.0);
  EXPECT_NEAR(Reached(reach, 2.8, 0.5), 2.7, 1e-12);
  EXPECT_NEAR(Reached(reach, 3.3, 0.5), 2.85, 1e-12);
}

const Objective kAccuracy = {"accuracy", Direction::kMaximize};
constexpr Interval kPredicted = {0.9, 0.88, 0.92, 0.87, 0.93};

// One run for each value, with the seeds 1, 2, …
RivalRuns RivalOf(const std::string& name, const std::vector<double>& values) {
  RivalRuns rival{kPredicted, kPredicted, {name, {}}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    rival.seen.runs.push_back({i + 1, values[i], nullptr});
  }
  return rival;
}

Verification Judge(const std::vector<RivalRuns>& rivals) {
  return JudgeRuns(rivals, 7, {});
}

// The run that has these of 100 rows right.
std::shared_ptr<const statistics::RunScore> RightFrom(std::size_t from,
                                                      std::size_t to) {
  statistics::Outcomes outcomes;
  outcomes.right_or_wrong = true;
  outcomes.marks.resize(100, 0.0f);
  for (std::size_t i = from; i < to; ++i) outcomes.marks[i] = 1.0f;
  return statistics::MakeRunScore("accuracy", outcomes);
}

TEST(Verification, WhatASeedDoesToAllIsNoNoiseBetweenThem) {
  // Seed 2 costs everybody .1; between the rivals nothing moves but .02.
  const Verification judged = Judge({RivalOf("plan", {0.9, 0.8, 0.9}),
                                     RivalOf("best", {0.92, 0.82, 0.92}),
                                     RivalOf("all", {0.901, 0.8, 0.9})});
  EXPECT_NEAR(judged.rivals[1].difference.value, 0.02, 1e-12);
  EXPECT_LT(judged.seed_deviation, 0.001);
  EXPECT_TRUE(judged.rivals[1].exceeds_seeds);
  EXPECT_FALSE(judged.rivals[2].exceeds_seeds);
  // One run of anything, though, may be a tenth off.
  EXPECT_GT(judged.rivals[0].seen.hi95 - judged.rivals[0].seen.lo95, 0.1);
}

TEST(Verification, ATwoWayTableHasTheTextbooksNoise) {
  const Verification judged =
      Judge({RivalOf("plan", {1, 2, 3}), RivalOf("best", {2, 2, 5})});
  // Residuals of 0, .5 and -.5, and the same of the other sign: a sum of
  // squares of 1 over 2 degrees of freedom.
  EXPECT_NEAR(judged.seed_deviation, std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(judged.rivals[1].difference.value, 1.0, 1e-12);
}

TEST(Verification, RunsWithoutAResultAreLeftOut) {
  const double nan = std::nan("");
  const Verification judged =
      Judge({RivalOf("plan", {0.9, nan, 0.8}), RivalOf("best", {0.9, 0.7, 0.9}),
             RivalOf("head", {nan, nan, nan})});
  EXPECT_NEAR(judged.rivals[0].seen.value, 0.85, 1e-12);
  EXPECT_NEAR(judged.rivals[1].difference.value, 0.05, 1e-12);
  EXPECT_TRUE(std::isnan(judged.rivals[2].seen.value));
  EXPECT_TRUE(std::isnan(judged.rivals[2].difference.value));
  EXPECT_FALSE(judged.rivals[2].exceeds_seeds);
}

TEST(Verification, OneSeedSaysNothingOfNoise) {
  const Verification judged =
      Judge({RivalOf("plan", {0.9}), RivalOf("best", {0.2})});
  EXPECT_TRUE(std::isnan(judged.seed_deviation));
  EXPECT_TRUE(std::isnan(judged.rivals[1].seed_noise));
  EXPECT_FALSE(judged.rivals[1].exceeds_seeds);
  EXPECT_THAT(
      VerificationSentence(
          kAccuracy, {RivalOf("plan", {0.9}), RivalOf("best", {0.2})}, judged),
      HasSubstr("the noise of seeds is not known"));
}

TEST(Verification, RowsSayWhatTheEvaluationSetLeavesOpen) {
  // In 100 rows, the rival is right in 10 where the plan is wrong, and wrong in
  // 2 where the plan is right.
  RivalRuns plan = RivalOf("plan", {0.5}), best = RivalOf("best", {0.58});
  plan.seen.runs[0].score = RightFrom(0, 50);
  best.seen.runs[0].score = RightFrom(2, 60);
  const Verification judged = Judge({plan, best});
  EXPECT_EQ(judged.rows, 100);
  // The variance of 10 ones, 2 minus ones and 88 zeros, with half a one and
  // half a minus one besides.
  const double variance = (13.0 - 100.0 * 0.08 * 0.08) / 99.0;
  EXPECT_NEAR(judged.rivals[1].row_noise,
              1.959964 * std::sqrt(variance / 100.0), 1e-6);
  EXPECT_TRUE(judged.rivals[1].exceeds_rows);
  EXPECT_NEAR(judged.rivals[1].p, 0.03857421875, 1e-12);  // McNemar's
  // Whoever runs each once has not shown that the points differ.
  EXPECT_THAT(VerificationSentence(kAccuracy, {plan, best}, judged),
              HasSubstr("the noise of seeds is not known"));
}

TEST(Verification, SeedsAndRowsAreOneTest) {
  // Three seeds agree on a gain, and of each seed's rows few say so.
  RivalRuns plan = RivalOf("plan", {0.5, 0.51, 0.5});
  RivalRuns best = RivalOf("best", {0.52, 0.525, 0.53});
  const double of_seeds = Judge({plan, best}).rivals[1].p;
  for (std::size_t i = 0; i < 3; ++i) {
    plan.seen.runs[i].score = RightFrom(0, 50);
    best.seen.runs[i].score = RightFrom(1, 53);
  }
  const Verification judged = Judge({plan, best});
  EXPECT_LT(of_seeds, 0.05);
  EXPECT_GT(judged.rivals[1].p, of_seeds);
  EXPECT_EQ(judged.rivals[1].adjusted_p, judged.rivals[1].p);
}

TEST(Verification, SaysWhetherAPromiseWasKept) {
  const std::vector<RivalRuns> kept = {RivalOf("plan", {0.9, 0.91, 0.89})};
  EXPECT_THAT(VerificationSentence(kAccuracy, kept, Judge(kept)),
              HasSubstr("scored 0.900 (mean of 3 runs), as predicted (0.880"));
  const std::vector<RivalRuns> broken = {RivalOf("plan", {0.8, 0.81, 0.79}),
                                         RivalOf("best", {0.9, 0.911, 0.889})};
  const std::string said =
      VerificationSentence(kAccuracy, broken, Judge(broken));
  EXPECT_THAT(said, HasSubstr("lower than predicted"));
  EXPECT_THAT(said, HasSubstr("better than it: \"best\" by 0.100"));
  const Objective loss = {"loss", Direction::kMinimize};
  EXPECT_THAT(VerificationSentence(loss, broken, Judge(broken)),
              Not(HasSubstr("better than it")));
  EXPECT_THAT(VerificationSentence(kAccuracy, kept, Judge(kept)),
              StartsWith("the plan scored"));
  EXPECT_EQ(VerificationSentence(kAccuracy, {}, {}),
            "no run of the plan has a result");
}

TEST(Verification, NamesWhatWasAppliedInThePlansPlace) {
  const std::vector<RivalRuns> applied = {RivalOf("trial 14", {0.9, 0.91}),
                                          RivalOf("head only", {0.9, 0.91})};
  EXPECT_THAT(VerificationSentence(kAccuracy, applied, Judge(applied)),
              StartsWith("trial 14 scored 0.905 (mean of 2 runs)"));
  const std::vector<RivalRuns> failed = {RivalOf("trial 14", {std::nan("")})};
  EXPECT_EQ(VerificationSentence(kAccuracy, failed, Judge(failed)),
            "no run of trial 14 has a result");
}

}  // namespace
}  // namespace frostline::importance
