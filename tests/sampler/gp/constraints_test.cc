// SPDX-License-Identifier: Apache-2.0
//
// What the search learns of constraints.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sampler/gp/beliefs.h"
#include "sampler/gp/levels.h"
#include "surrogate/growing_surrogate.h"
#include "tests/sampler/gp/support.h"

namespace frostline::sampler {
namespace {

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

}  // namespace
}  // namespace frostline::sampler
