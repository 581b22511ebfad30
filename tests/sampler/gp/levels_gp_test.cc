// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/levels_gp.h"

#include <array>
#include <chrono>
#include <cmath>
#include <set>
#include <stop_token>
#include <thread>

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

}  // namespace
}  // namespace frostline::sampler
