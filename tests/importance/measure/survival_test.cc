// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/survival.h"

#include <regex>

#include "gtest/gtest.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

// Of uniform trials those fail that `fails` names.
template <typename Fails>
History Surviving(const Space& space, int trials, const Fails& fails) {
  const History even = UniformTrials(space, trials, [](const Point&, Rng& rng) {
    return 0.8 + 0.01 * rng.Normal();
  });
  History history;
  for (Observation trial : even.trials()) {
    if (fails(trial)) {
      trial.state = TrialState::kInfeasible;
      trial.values.clear();
    }
    history.Put(trial);
  }
  return history;
}

std::optional<SurvivalSplit> SplitOf(const Space& space,
                                     const History& history) {
  const auto selection = FindUsableTrials(space, kAccuracy, history, {});
  EXPECT_OK(selection.status());
  return FindSurvivalSplit(space, *selection);
}

TEST(Survival, WhatAlwaysFailsIsNamedWithItsCounts) {
  const Space space = LevelSpace(3, 4);
  const auto split =
      SplitOf(space, Surviving(space, 60, [](const Observation& trial) {
                return trial.point[1] > 0.0;
              }));
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->parameter, 1);
  EXPECT_EQ(split->bad.ran, 0);
  EXPECT_EQ(split->good.failed, 0);
  EXPECT_EQ(split->sentence,
            absl::StrCat("layer.1 decides whether a run survives: ",
                         split->bad.failed, " of ", split->bad.failed,
                         " that train it could not be trained, and 0 of ",
                         split->good.ran, " that freeze it"));
  EXPECT_LT(split->ChanceAt({0, 1, 0}), 0.1);
  EXPECT_GT(split->ChanceAt({3, 0, 3}), 0.9);
}

TEST(Survival, RunsForWhichMemoryWasTooSmallAreSaidToBeSuch) {
  const Space space = LevelSpace(3, 4);
  const auto sentence_of = [&](std::int64_t numbers_from) {
    const History all = Surviving(space, 60, [](const Observation& trial) {
      return trial.point[1] > 0.0;
    });
    History history;
    for (Observation trial : all.trials()) {
      trial.out_of_memory = trial.state == TrialState::kInfeasible &&
                            trial.number >= numbers_from;
      history.Put(trial);
    }
    return SplitOf(space, history)->sentence;
  };
  EXPECT_NE(sentence_of(0).find(" that train it ran out of memory, and 0 of "),
            std::string::npos);
  EXPECT_TRUE(std::regex_search(
      sentence_of(30),
      std::regex("could not be trained \\([0-9]+ ran out of memory\\), and")));
}

TEST(Survival, ARateFromWhichRunsFailIsFound) {
  const Space space = LevelSpace(3, 5);
  const auto split =
      SplitOf(space, Surviving(space, 80, [](const Observation& trial) {
                return trial.point[2] >= 4.0;
              }));
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->parameter, 2);
  EXPECT_EQ(split->value, 4.0);
  EXPECT_NE(split->sentence.find("at 4e-05 or more"), std::string::npos);
}

TEST(Survival, TheLowestOfRatesIsNotFrozen) {
  const Space space({{"layer.0", Levels{{1e-4, 1e-3}}, {}},
                     {"layer.1", Levels{{1e-4, 1e-3}}, {}}},
                    {}, std::nullopt);
  const auto split =
      SplitOf(space, Surviving(space, 60, [](const Observation& trial) {
                return trial.point[0] == 1.0;
              }));
  ASSERT_TRUE(split.has_value());
  EXPECT_FALSE(split->of_freezing);
  EXPECT_NE(split->sentence.find("at 0.001 or more"), std::string::npos);
}

TEST(Survival, AChoiceIsNamed) {
  const Space space({{"optimizer", Categorical{{"adam", "sgd"}}, {}},
                     {"layer.0", Levels{{0.0, 1e-3}}, {}}},
                    {}, std::nullopt);
  const auto split =
      SplitOf(space, Surviving(space, 60, [](const Observation& trial) {
                return trial.point[0] == 1.0;
              }));
  ASSERT_TRUE(split.has_value());
  EXPECT_NE(split->sentence.find("with sgd"), std::string::npos);
}

TEST(Survival, FailuresAnywhereAreNobodys) {
  const Space space = LevelSpace(7, 5);
  int named = 0;
  for (int first = 0; first < 50; ++first) {
    named += SplitOf(space, Surviving(space, 100,
                                      [&](const Observation& t) {
                                        return (t.number * 7 + first) % 10 == 0;
                                      }))
                 .has_value();
  }
  EXPECT_LE(named, 2) << "a hundredth is expected";
}

TEST(Survival, TwoFailuresTellNothing) {
  const Space space = LevelSpace(3, 4);
  EXPECT_FALSE(SplitOf(space, Surviving(space, 40,
                                        [](const Observation& t) {
                                          return t.number < 2;
                                        }))
                   .has_value());
}

}  // namespace
}  // namespace frostline::importance
