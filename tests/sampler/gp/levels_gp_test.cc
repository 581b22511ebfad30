// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/levels_gp.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sampler/cost.h"
#include "sampler/gp/beliefs.h"
#include "sampler/gp/levels.h"
#include "surrogate/growing_surrogate.h"
#include "tests/sampler/gp/support.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

// A bowl; frozen is better than its neighbours by `frozen`.
double Bowl(const Point& point, double frozen) {
  const double best[] = {4, 2, 5, 3, 6, 3};
  double loss = 0.0;
  for (std::size_t i = 0; i < point.size(); ++i) {
    loss += (point[i] - best[i]) * (point[i] - best[i]);
    if (point[i] == 0.0) loss -= frozen;
  }
  return loss;
}

TEST(LevelsGp, FindsTheBottomOfABowlInFiftyTrials) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    LittleStudy study(SevenLevelModules(6));
    study.seed = seed;
    found += study.Run(50, [](const Point& p) { return Bowl(p, 0.0); }) == 0.0;
  }
  EXPECT_GE(found, 4);
}

// A loss of -400 that nobody can have, far from the bottom.
TEST(LevelsGp, AMistakeIsNothingToBeat) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    LittleStudy study(SevenLevelModules(6));
    study.seed = seed;
    const auto bowl = [](const Point& p) { return Bowl(p, 0.0); };
    const double before = study.Run(12, bowl);
    study.Tell({0, 6, 0, 6, 0, 6}, TrialState::kSucceeded, {-400.0});
    found += std::min(before, study.Run(40, bowl)) == 0.0;
  }
  EXPECT_GE(found, 4);
}

TEST(LevelsGp, FindsThatFreezingAModuleIsBest) {
  // 16 - 20 beats the bowl's bottom in module 0 alone (4² = 16).
  LittleStudy study(SevenLevelModules(3));
  const double best = study.Run(40, [](const Point& point) {
    return Bowl(point, 0.0) - (point[0] == 0.0 ? 20.0 : 0.0);
  });
  EXPECT_EQ(best, -4.0);
}

TEST(LevelsGp, ProposesEveryPointOnceAndThenRepeats) {
  const Space space =
      SpaceOf({Levels{{0, 1e-6, 1e-5}}, IntRange{1, 4, 1, false},
               Categorical{{"\"a\"", "\"b\""}}});
  LittleStudy study(space, {{"startup_trials", "4"}});
  std::set<Point> seen;
  for (int trial = 0; trial < 24; ++trial) {
    const Point point = study.Ask();
    EXPECT_TRUE(seen.insert(point).second) << "trial " << trial;
    study.Tell(point, TrialState::kSucceeded, {point[0] + point[1]});
  }
  EXPECT_OK(space.Check(study.Ask()));
}

TEST(LevelsGp, NoTwoOfManyAtOnceAreTheSame) {
  LittleStudy study(SevenLevelModules(6));
  study.Run(20, [](const Point& point) { return Bowl(point, 0.0); });
  std::set<Point> asked;
  for (int worker = 0; worker < 32; ++worker) {
    const Point point = study.Ask();
    EXPECT_TRUE(asked.insert(point).second);
    study.Tell(point, TrialState::kRunning, {});
  }
}

TEST(LevelsGp, LearnsWhereTrialsFail) {
  // The bowl's bottom in module 4 is level 6, which never survives.
  LittleStudy study(SevenLevelModules(6));
  int failed_late = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const Point point = study.Ask();
    const bool fails = point[4] == 6.0;
    failed_late += fails && trial >= 30;
    study.Tell(point, fails ? TrialState::kInfeasible : TrialState::kSucceeded,
               fails ? std::vector<double>() : std::vector{Bowl(point, 0.0)});
  }
  EXPECT_LE(failed_late, 3);
}

TEST(LevelsGp, BrokenConstraintsAreNoLossToBeat) {
  LittleStudy study(SevenLevelModules(3));
  int broken_late = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Observation ended;
    ended.number = trial;
    ended.state = TrialState::kSucceeded;
    ended.point = study.Ask();
    ended.values = {Bowl(ended.point, 0.0)};
    ended.constraints = {ended.point[0] - 2.5};  // the bottom is at 4
    broken_late += trial >= 25 && ended.constraints[0] > 0.0;
    study.history.Put(ended);
  }
  EXPECT_LE(broken_late, 5);
}

TEST(LevelsGp, SearchesRatesOnALine) {
  LittleStudy study(
      SpaceOf({LogUniform{1e-8, 1e-2, true}, LogUniform{1e-8, 1e-2, false},
               FloatRange{0.0, 0.5, 0.0, false}}));
  const double best = study.Run(60, [](const Point& point) {
    const double first =
        point[0] == 0.0 ? 3.0 : std::abs(std::log10(point[0]) + 4.0);
    return first + std::abs(std::log10(point[1]) + 6.0) + point[2];
  });
  EXPECT_LT(best, 0.3);
}

TEST(LevelsGp, KnowsThatAModuleBelowThePrefixIsFrozen) {
  std::vector<Parameter> parameters = {{"depth", IntRange{0, 3, 1, false}, {}}};
  for (int layer = 0; layer < 3; ++layer) {
    Condition condition{.parent = 0, .values = {}, .min = 0.0};
    condition.max = layer;
    parameters.push_back(
        {"layer." + std::to_string(layer), kSevenLevels, condition});
  }
  LittleStudy study(Space(parameters, {}, 0));
  const auto loss = [](const Point& point) {
    double sum = 0.0;
    for (std::size_t layer = 1; layer <= 3; ++layer) {
      const double level = IsAbsent(point[layer]) ? 0.0 : point[layer];
      const double best = layer == 1 ? 0.0 : 4.0;
      sum += std::abs(level - best);
    }
    return sum + 0.1 * std::abs(point[0] - 1.0);
  };
  EXPECT_EQ(study.Run(45, loss), 0.0);  // depth 1 and both others at 4
}

TEST(LevelsGp, AnEarlierStudySavesTheStart) {
  PriorStudy earlier{.name = "last week", .trials = {}};
  Rng rng(9);
  for (int i = 0; i < 60; ++i) {
    Observation trial;
    trial.number = i;
    trial.state = TrialState::kSucceeded;
    for (int d = 0; d < 6; ++d) {
      trial.point.push_back(static_cast<double>(rng.Below(7)));
    }
    trial.values = {1000.0 + 50.0 * Bowl(trial.point, 0.0)};
    earlier.trials.push_back(trial);
  }
  LittleStudy warm(SevenLevelModules(6), {}, {earlier});
  LittleStudy cold(SevenLevelModules(6));
  const auto loss = [](const Point& point) { return Bowl(point, 0.0); };
  EXPECT_LT(warm.Run(8, loss), 0.5 * cold.Run(8, loss));
}

TEST(LevelsGp, HandsOverToTpe) {
  const auto loss = [](const Point& point) { return Bowl(point, 0.0); };
  LittleStudy study(SevenLevelModules(3), {{"max_trials", "20"}});
  study.Run(25, loss);
  const auto tpe = *MakeSampler({.name = "tpe", .options = {}}, study.space,
                                study.objectives);
  Rng rng(study.seed, 25);
  EXPECT_TRUE(SamePoint(study.Ask(), *tpe->Propose(study.history, 25, rng)));
}

TEST(LevelsGp, ProposesTheSameAsOneThatSawNothingBefore) {
  // Trials end out of order, fail and are pruned while others run.
  LittleStudy study(SevenLevelModules(5));
  Rng chance(11);
  for (int trial = 0; trial < 60; ++trial) {
    const Point point = study.Ask();
    study.Tell(point, TrialState::kRunning, {});
    Observation ends =
        study.history.trials()[chance.Below(study.history.size())];
    ends.state = chance.Uniform() < 0.2   ? TrialState::kFailed
                 : chance.Uniform() < 0.2 ? TrialState::kPruned
                                          : TrialState::kSucceeded;
    if (ends.state == TrialState::kPruned) ends.intermediate = {{1, 5.0}};
    if (ends.state == TrialState::kSucceeded) {
      ends.values = {Bowl(ends.point, 0.0)};
    }
    study.history.Put(ends);
    if (trial % 10 != 9) continue;
    LittleStudy fresh(study.space);
    fresh.history = study.history;
    ASSERT_TRUE(SamePoint(fresh.Ask(), study.Ask())) << "trial " << trial;
  }
}

// How many pairs of levels, of all pairs of modules, a batch has tried.
std::size_t PairsTried(const History& history) {
  std::set<std::array<double, 4>> pairs;
  for (const Observation& trial : history.trials()) {
    for (std::size_t a = 0; a < trial.point.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        pairs.insert({double(a), double(b), trial.point[a], trial.point[b]});
      }
    }
  }
  return pairs.size();
}

TEST(LevelsGp, AFirstBatchIsADesign) {
  LittleStudy batch(SevenLevelModules(5)), one_by_one(SevenLevelModules(5));
  one_by_one.sampler =
      *MakeSampler({.name = "levels-gp", .options = {{"startup_trials", "64"}}},
                   one_by_one.space, one_by_one.objectives);
  for (int trial = 0; trial < 49; ++trial) {
    batch.Tell(batch.Ask(), TrialState::kRunning, {});
    one_by_one.Tell(one_by_one.Ask(), TrialState::kSucceeded, {1.0});
  }
  // There are 490 pairs; balanced draws that know nothing of pairs try about
  // two thirds of them.
  EXPECT_GT(PairsTried(batch.history),
            PairsTried(one_by_one.history) + std::size_t{40});
}

TEST(LevelsGp, AStopAtAnyTimeChangesNoLaterProposal) {
  LittleStudy study(SevenLevelModules(6));
  study.Run(90, [](const Point& point) { return Bowl(point, 0.0); });
  study.Tell(study.Ask(), TrialState::kFailed, {});
  LittleStudy fresh(study.space);
  fresh.history = study.history;
  const Point undisturbed = fresh.Ask();
  for (int wait_us = 1; wait_us < 20'000; wait_us *= 3) {
    LittleStudy again(study.space);
    again.history = study.history;
    std::stop_source stop;
    const std::jthread stops([&stop, wait_us] {
      std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
      stop.request_stop();
    });
    Rng rng(again.seed, static_cast<std::uint64_t>(again.next()));
    const auto point = again.sampler->Propose(again.history, again.next(), rng,
                                              stop.get_token());
    EXPECT_TRUE(point.ok() || absl::IsCancelled(point.status()));
    EXPECT_TRUE(SamePoint(again.Ask(), undisturbed)) << wait_us;
  }
}

TEST(LevelsGp, HandsOverToTpeAboveSoManyParameters) {
  const std::vector<Objective> loss = {{"loss", Direction::kMinimize}};
  EXPECT_TRUE(CanServeLevelsGp(SevenLevelModules(64), loss));
  LittleStudy study(SevenLevelModules(65));
  study.Run(25, [](const Point& point) { return point[0] + point[64]; });
  const auto tpe = *MakeSampler({.name = "tpe", .options = {}}, study.space,
                                study.objectives);
  Rng rng(study.seed, 25);
  EXPECT_TRUE(SamePoint(study.Ask(), *tpe->Propose(study.history, 25, rng)));
}

TEST(LevelsGp, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(
      MakeSampler({.name = "levels-gp", .options = {{"stats", "1"}}},
                  SevenLevelModules(1), {{"loss", Direction::kMinimize}}),
      FailsWith(ErrorId::kSamplerInvalid));
}

// The parts of the Gaussian process against what they stand for.

const std::vector<LevelAxis>& MixedAxes() {
  static const std::vector<LevelAxis> axes = *MakeLevelAxes(SpaceOf(
      {kSevenLevels, LogUniform{1e-7, 1e-3, true}, IntRange{1, 5, 1, false},
       Categorical{{"\"a\"", "\"b\"", "\"c\""}}, FloatRange{0, 1, 0, false}}));
  return axes;
}

TEST(Improvement, EqualsTheIntegral) {
  for (const double best : {-4.0, -1.5, 0.0, 0.7, 3.0}) {
    const double mean = 0.3, deviation = 0.8;
    double sum = 0.0;  // of (best - x) times the density, x below best
    constexpr double kWidth = 1e-4;
    for (double x = best - kWidth / 2; x > mean - 12.0; x -= kWidth) {
      const double u = (x - mean) / deviation;
      sum += (best - x) * std::exp(-u * u / 2.0);
    }
    sum *= kWidth / deviation / std::sqrt(2.0 * M_PI);
    EXPECT_NEAR(LogExpectedImprovement(mean, deviation, best), std::log(sum),
                1e-6);
  }
}

TEST(Improvement, RisesWithHopeHoweverFaint) {
  double before = -std::numeric_limits<double>::infinity();
  for (double mean = 1e6; mean > -1e3; mean -= std::abs(mean) * 0.01 + 0.01) {
    const double gain = LogExpectedImprovement(mean, 1.0, 0.0);
    ASSERT_TRUE(std::isfinite(gain)) << mean;
    ASSERT_GT(gain, before) << mean;
    before = gain;
  }
}

TEST(Targets, NoOutlierMovesTheOthersFar) {
  const std::vector<double> bad = TargetsOf({1, 2, 3, 4, 5, 6, 7, 1e3});
  const std::vector<double> odd = TargetsOf({1, 2, 3, 4, 5, 6, 7, 1e308});
  for (std::size_t i = 0; i + 1 < odd.size(); ++i) {
    EXPECT_LT(odd[i] + 0.1, odd[i + 1]);
    EXPECT_NEAR(odd[i], bad[i], 0.2);
  }
  EXPECT_EQ(TargetsOf({1e308, 1e308}), (std::vector<double>{0.0, 0.0}));
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double target : TargetsOf({-1e308, 1e308, 0.0, infinite})) {
    EXPECT_TRUE(std::isfinite(target));
  }
}

TEST(LevelAxis, EveryValueHasACellAndEveryCellAValue) {
  for (const LevelAxis& axis : MixedAxes()) {
    for (int cell = 0; cell < axis.choices(); ++cell) {
      EXPECT_EQ(axis.CellOf(axis.ValueOf(cell)), cell);
      EXPECT_GE(axis.places[static_cast<std::size_t>(cell)], 0.0);
      EXPECT_LE(axis.places[static_cast<std::size_t>(cell)], kAxisLength);
    }
  }
  EXPECT_EQ(MixedAxes()[0].CellOf(0.0), 6);  // frozen, behind the six rates
  EXPECT_EQ(MixedAxes()[1].CellOf(0.0), kLineCells);
}

TEST(StudyAxes, SayWhatEachCellIsAndHowMuchOfTheSpaceItHas) {
  using surrogate::CellKind;
  const Space space = SpaceOf({kSevenLevels, Categorical{{"\"a\"", "\"b\""}}});
  const auto axes = SearchAxes(space, *MakeLevelAxes(space), 2);
  ASSERT_EQ(axes.size(), 3u);
  EXPECT_EQ(axes[0].kinds.front(), CellKind::kOrdered);
  EXPECT_EQ(axes[0].kinds.back(), CellKind::kFrozen);
  EXPECT_NEAR(axes[0].masses[3], 1.0 / 7.0, 0.05);
  EXPECT_EQ(axes[1].kinds, std::vector(2, CellKind::kAlone));
  EXPECT_EQ(axes[2].cells(), 3u);  // this study and two earlier ones
}

TEST(LearntModel, RefreshesOftenAtFirstAndSeldomLater) {
  std::size_t refreshes = 0, before = 0;
  for (std::size_t trials = 0; trials <= 1000; ++trials) {
    const std::size_t at = LastRefresh(trials);
    EXPECT_LE(at, trials);
    EXPECT_LE(trials - at, std::max<std::size_t>(2, trials / 8));
    refreshes += at != before;
    before = at;
  }
  EXPECT_LT(refreshes, 60u);
}

// What the search learns of constraints.

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ConstraintTargets, KeepTheSignWhateverTheSpread) {
  const std::vector<std::vector<double>> studies = {
      {-10.01, -10, -9.99, -10, -10.005, 5},
      {1000, 1001, 999, 1000, -50, 100},
      {-1e-9, 1, 2, 3, 4, 5},
      {-1e308, 1e308, -1e-300},
      {-3, kInfinity},
      {-1, 1e9, kInfinity, 0},
      {-kInfinity, kInfinity},
      {kInfinity, kInfinity, 0}};
  for (const std::vector<double>& values : studies) {
    const auto [targets, bound] = ConstraintTargetsOf(values);
    ASSERT_EQ(targets.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(std::isfinite(targets[i]));
      EXPECT_EQ(targets[i] > bound, values[i] > 0.0) << values[i];
      for (std::size_t j = 0; j < values.size(); ++j) {
        EXPECT_TRUE(values[i] <= values[j] || targets[i] >= targets[j]);
      }
    }
  }
}

TEST(ConstraintTargets, WhatIsMissingIsBeyondTheFurthest) {
  const auto targets = ConstraintTargetsOf({-3, 2, 7, kInfinity}).targets;
  EXPECT_GT(targets[3], targets[2] + 0.1);
  const auto huge = ConstraintTargetsOf({-1, 1e308, kInfinity}).targets;
  EXPECT_GT(huge[2], huge[1]);
}

struct Known {
  double value = 0.0;   // above 0 is broken
  double chance = 0.0;  // that the constraint is kept there, as believed
};

// Returns what is believed after 35 trials of three modules. `value` makes
// their constraint from the level of the first module and a number within ±1
// that differs from trial to trial.
std::vector<Known> BelievedOf(
    const std::function<double(int level, double jitter)>& value) {
  const Space space = SevenLevelModules(3);
  const std::vector<LevelAxis> axes = *MakeLevelAxes(space);
  Rng rng(4);
  std::vector<LedgerTrial> trials;
  for (int number = 0; number < 35; ++number) {
    const int level = number % 7;
    Observation trial;
    trial.number = number;
    trial.state = TrialState::kSucceeded;
    trial.point = {static_cast<double>(level),
                   static_cast<double>(rng.Below(7)),
                   static_cast<double>(rng.Below(7))};
    trial.values = {0.0};
    trial.constraints = {value(level, 2.0 * rng.Uniform() - 1.0)};
    trials.push_back(
        *LedgerTrialOf(trial, space, axes, {"loss", Direction::kMinimize}));
  }
  LedgerList list;
  for (const LedgerTrial& trial : trials) list.push_back(&trial);
  const ConstraintRows rows = ConstraintRowsOf(list, 0);
  LearntModel model(SearchAxes(space, axes, 0));
  EXPECT_TRUE(model.Update(rows.rows, rows.rows, {}));
  SearchGoal goal;
  goal.has_best = false;
  goal.constraints = {{&model.posterior(), rows.bound}};
  surrogate::PointWalk walk(model.posterior(), true);
  std::vector<Known> known;
  for (const LedgerTrial& trial : trials) {
    walk.Place(trial.cells);
    PointBeliefs here;
    here.constraints = {walk.Here()};
    known.push_back({trial.constraints[0], std::exp(ScoreOf(goal, here))});
  }
  return known;
}

void ExpectCertain(const std::vector<Known>& known) {
  for (const Known& trial : known) {
    if (trial.value > 0.0) {
      EXPECT_LT(trial.chance, 0.1) << trial.value;
    } else {
      EXPECT_GT(trial.chance, 0.9) << trial.value;
    }
  }
}

TEST(ConstraintModel, ABreachBesideManyEqualValuesIsKnown) {
  ExpectCertain(BelievedOf([](int level, double jitter) {
    return level == 6 ? 5.0 : -10.0 + 0.01 * jitter;
  }));
}

TEST(ConstraintModel, FewThatKeepItBesideManyFarBeyondAreKnown) {
  bool is_first = true;
  ExpectCertain(BelievedOf([&is_first](int level, double jitter) {
    if (level == 0) return -50.0;
    const bool is_near = level == 1 && std::exchange(is_first, false);
    return is_near ? 100.0 : 1000.0 + jitter;
  }));
}

TEST(ConstraintModel, AMetricThatIsMissingBreaksIt) {
  ExpectCertain(BelievedOf([](int level, double jitter) {
    if (level == 6) return jitter > 0.0 ? kInfinity : std::nan("");
    return level > 3 ? 2.0 + jitter : -3.0 + jitter;
  }));
}

Observation PrunedWith(std::vector<double> constraints) {
  Observation trial;
  trial.state = TrialState::kPruned;
  trial.point = {1, 2, 3};
  trial.intermediate = {{1, 5.0}};
  trial.constraints = std::move(constraints);
  return trial;
}

TEST(ConstraintModel, WhatAPrunedTrialDidNotMeasureIsNoRow) {
  const Space space = SevenLevelModules(3);
  const std::vector<LevelAxis> axes = *MakeLevelAxes(space);
  const Objective loss = {"loss", Direction::kMinimize};
  Observation ended = PrunedWith({2.0, 3.0});
  ended.state = TrialState::kSucceeded;
  ended.values = {1.0};
  Observation within = ended;
  within.constraints = {-kInfinity, -1.0};  // measured: it succeeded
  const auto breaks = *LedgerTrialOf(ended, space, axes, loss);
  const auto keeps = *LedgerTrialOf(within, space, axes, loss);
  const auto pruned =
      *LedgerTrialOf(PrunedWith({-kInfinity, 0.0}), space, axes, loss);
  EXPECT_TRUE(pruned.feasible);
  const TrialParts parts = PartsOf({&breaks, &keeps, &pruned});
  ASSERT_EQ(parts.broken.size(), 2u);
  EXPECT_EQ(parts.broken[0].second, (LedgerList{&breaks, &keeps}));
  EXPECT_EQ(parts.broken[1].second, (LedgerList{&breaks, &keeps, &pruned}));
}

TEST(LevelsGp, APrunedTrialThatMeasuredNothingSaysNothingOfAConstraint) {
  LittleStudy unmeasured(SevenLevelModules(3)), none(SevenLevelModules(3));
  for (int number = 0; number < 30; ++number) {
    Observation trial = PrunedWith({-kInfinity});
    trial.number = number;
    trial.point = none.Ask();
    ASSERT_TRUE(SamePoint(unmeasured.Ask(), trial.point)) << number;
    const bool is_pruned = number % 3 == 1;
    if (!is_pruned) {
      trial.state = TrialState::kSucceeded;
      trial.values = {10.0 - trial.point[0] - trial.point[1]};
      trial.constraints = {trial.point[0] - 2.5};
    }
    unmeasured.history.Put(trial);
    if (is_pruned) trial.constraints.clear();
    none.history.Put(trial);
  }
}

TEST(Tpe, CountsWhatAPrunedTrialDidNotMeasureAsKept) {
  const Space space = SevenLevelModules(3);
  const std::vector<Objective> loss = {{"loss", Direction::kMinimize}};
  using Options = std::map<std::string, std::string>;
  for (const Options& options :
       {Options{}, Options{{"compat", "v4"}}, Options{{"compat", "v5"}}}) {
    const auto propose = [&](double not_measured) {
      History history;
      Rng levels(3), rng(9);
      for (int number = 0; number < 40; ++number) {
        Observation trial = PrunedWith({not_measured});
        trial.number = number;
        for (double& level : trial.point) level = double(levels.Below(7));
        if (number % 3 != 1) trial.constraints = {1.0 + trial.point[0]};
        history.Put(trial);
      }
      const auto sampler =
          *MakeSampler({.name = "tpe", .options = options}, space, loss);
      return *sampler->Propose(history, 40, rng);
    };
    EXPECT_TRUE(SamePoint(propose(-kInfinity), propose(0.0)));
    EXPECT_FALSE(SamePoint(propose(kInfinity), propose(0.0)));
  }
}

using Seconds = std::function<double(const Point&)>;

// Only the last module matters; the sum of all seconds.
double RunStudy(LittleStudy& study, int trials, const Seconds& seconds) {
  double sum = 0.0;
  for (int i = 0; i < trials; ++i) {
    Observation trial;
    trial.number = study.next();
    trial.state = TrialState::kSucceeded;
    trial.point = study.Ask();
    trial.values = {std::abs(trial.point.back() - 4.0)};
    trial.cost_s = seconds(trial.point);
    sum += trial.cost_s;
    study.history.Put(std::move(trial));
  }
  return sum;
}

TEST(CostAwareLevelsGp, PrefersTheCheaperOfTwoThatAreAsGood) {
  const Space space = SevenLevelModules(6);
  const WorkCounter counter(space);
  const auto seconds = [&](const char* cost_aware) {
    double sum = 0.0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      LittleStudy study(space, {{"cost_aware", cost_aware}});
      study.seed = seed;
      sum += RunStudy(study, 40, [&counter](const Point& point) {
        return 2.0 + counter.CountOf(point).passes();
      });
    }
    return sum;
  };
  EXPECT_LT(seconds("true"), 0.97 * seconds("false"));
}

TEST(CostAwareLevelsGp, WhileCostsAreNotKnownNothingChanges) {
  LittleStudy aware(SevenLevelModules(3), {{"cost_aware", "true"}});
  LittleStudy plain(SevenLevelModules(3));
  const auto by_chance = [](const Point& point) {
    return std::exp(static_cast<double>(HashPoint(point) % 8));
  };
  EXPECT_EQ(RunStudy(aware, 30, by_chance), RunStudy(plain, 30, by_chance));
  for (std::size_t i = 0; i < aware.history.size(); ++i) {
    EXPECT_TRUE(SamePoint(aware.history.trials()[i].point,
                          plain.history.trials()[i].point));
  }
}

TEST(CostAwareLevelsGp, RefusesWhatIsNeitherTrueNorFalse) {
  const auto sampler = MakeSampler(
      {.name = "levels-gp", .options = {{"cost_aware", "somewhat"}}},
      SevenLevelModules(2), {{"loss", Direction::kMinimize}}, {});
  EXPECT_THAT(sampler,
              FailsAt(ErrorId::kSamplerInvalid, "sampler.options.cost_aware"));
}

}  // namespace
}  // namespace frostline::sampler
