// SPDX-License-Identifier: Apache-2.0
#include "sampler/purpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sampler/draw/random.h"
#include "sampler/factory.h"
#include "tests/sampler/gp/support.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

// A study whose trials run until they are told to end.
class RunningStudy {
 public:
  RunningStudy(Space space, Purpose purpose, std::uint64_t seed = 3)
      : space_(std::move(space)),
        spec_{.name = "tpe", .options = {}, .seed = seed, .purpose = purpose},
        sampler_(*MakeSampler(spec_, space_, kLoss)) {}

  Point Start() {
    const auto number = static_cast<std::int64_t>(history_.size());
    Rng rng(spec_.seed, static_cast<std::uint64_t>(number));
    auto point = sampler_->Propose(history_, number, rng);
    EXPECT_OK(point);
    EXPECT_OK(space_.Check(*point));
    Put(number, TrialState::kRunning, *point);
    return *point;
  }
  void End(std::int64_t number, TrialState state, double loss) {
    Put(number, state, history_.Find(number)->point, {loss});
  }
  Point Run(TrialState state, double loss) {
    const Point point = Start();
    End(static_cast<std::int64_t>(history_.size()) - 1, state, loss);
    return point;
  }

  const Space& space() const { return space_; }
  const History& history() const { return history_; }

 private:
  void Put(std::int64_t number, TrialState state, const Point& point,
           std::vector<double> values = {}) {
    Observation trial;
    trial.number = number;
    trial.state = state;
    trial.point = point;
    if (state == TrialState::kSucceeded) trial.values = std::move(values);
    history_.Put(std::move(trial));
  }

  Space space_;
  SamplerSpec spec_;
  std::unique_ptr<Sampler> sampler_;
  History history_;
};

TEST(PurposeSampler, BeginsWithEveryLevelEquallyOften) {
  RunningStudy study(
      SpaceOf(std::vector<Domain>(7, Levels{{0, 1e-7, 1e-6, 1e-5, 1e-4}})),
      Purpose::kBoth);
  std::vector<std::vector<int>> uses(7, std::vector<int>(5, 0));
  for (int trial = 0; trial < kDesignTrials; ++trial) {
    const Point point = study.Start();  // none of them has ended
    for (std::size_t d = 0; d < 7; ++d) {
      ++uses[d][static_cast<std::size_t>(point[d])];
    }
  }
  for (const auto& levels : uses) {
    EXPECT_EQ(levels, std::vector<int>(5, kDesignTrials / 5));
  }
}

TEST(PurposeSampler, BeginsWithPairsMoreEvenThanRandom) {
  const Space space = SevenLevelModules(7);
  const auto repeats = [](const std::vector<Point>& points) {
    std::map<std::pair<std::size_t, std::pair<double, double>>, int> seen;
    int repeated = 0;
    for (const Point& p : points) {
      for (std::size_t a = 0; a < 7; ++a) {
        for (std::size_t b = a + 1; b < 7; ++b) {
          repeated += seen[{a * 7 + b, {p[a], p[b]}}]++ > 0 ? 1 : 0;
        }
      }
    }
    return repeated;
  };
  int designed = 0, drawn = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    RunningStudy study(space, Purpose::kBoth, seed);
    std::vector<Point> points, random;
    Rng rng(seed);
    for (int trial = 0; trial < kDesignTrials; ++trial) {
      points.push_back(study.Start());
      random.push_back(DrawPoint(space, kFrozenShare, rng));
    }
    designed += repeats(points);
    drawn += repeats(random);
  }
  EXPECT_LT(3 * designed, drawn);
}

TEST(PurposeSampler, ToldTrialsSeeTheLevelsThatTheSearchLeaves) {
  // Without learning where it is good, a module's level is met evenly.
  const auto least_met = [](Purpose purpose) {
    RunningStudy study(SevenLevelModules(4), purpose);
    std::vector<int> uses(28, 0);
    for (int trial = 0; trial < 70; ++trial) {
      const Point point = study.Start();
      double loss = 0.0;
      for (std::size_t d = 0; d < 4; ++d) {
        loss += point[d];
        ++uses[d * 7 + static_cast<std::size_t>(point[d])];
      }
      study.End(trial, TrialState::kSucceeded, loss);
    }
    return *std::min_element(uses.begin(), uses.end());
  };
  EXPECT_GE(least_met(Purpose::kUnderstand), 7);
  EXPECT_LE(least_met(Purpose::kBest), 4);
}

TEST(PurposeSampler, NoTwoOfEightAtOnceAreTheSame) {
  for (const Purpose purpose : {Purpose::kBoth, Purpose::kUnderstand}) {
    RunningStudy study(SevenLevelModules(3), purpose);
    std::set<Point> asked;
    for (int trial = 0; trial < 60; ++trial) {
      EXPECT_TRUE(asked.insert(study.Start()).second) << "trial " << trial;
      if (trial >= 8) study.End(trial - 8, TrialState::kSucceeded, trial % 7);
    }
  }
}

TEST(PurposeSampler, AsksNoCornerThatAlwaysFailsAgainAndAgain) {
  RunningStudy study(SevenLevelModules(3), Purpose::kUnderstand);
  int in_corner = 0;
  for (int trial = 0; trial < 80; ++trial) {
    const Point point = study.Start();
    const bool fails = point[0] == 6.0;  // the highest rate diverges
    in_corner += fails ? 1 : 0;
    study.End(trial, fails ? TrialState::kInfeasible : TrialState::kSucceeded,
              point[1]);
  }
  EXPECT_LE(in_corner, 20);  // a seventh of the levels has a quarter at most
}

TEST(PurposeSampler, RepeatsTheOnePointOfASpace) {
  for (const Purpose purpose : {Purpose::kBoth, Purpose::kUnderstand}) {
    RunningStudy study(SpaceOf({Levels{{0}}}), purpose);
    for (int trial = 0; trial < 30; ++trial) {
      EXPECT_EQ(study.Run(TrialState::kSucceeded, 1.0), Point{0.0});
    }
  }
}

TEST(PurposeSampler, CoversASmallSpaceBeforeItRepeats) {
  RunningStudy study(SpaceOf({Levels{{0, 1e-5}}, IntRange{1, 4, 1, false},
                              Categorical{{"\"a\"", "\"b\""}}}),
                     Purpose::kUnderstand);
  std::set<Point> seen;
  for (int trial = 0; trial < 16; ++trial) {
    seen.insert(study.Run(TrialState::kSucceeded, trial));
  }
  EXPECT_EQ(seen.size(), 16u);
  study.Start();
}

TEST(PurposeSampler, TakesConditionsAndEveryKindOfParameter) {
  std::vector<Parameter> parameters = {
      {"optimizer", Categorical{{"\"adam\"", "\"sgd\""}}, {}},
      {"momentum", FloatRange{0.5, 0.99, 0.0, false},
       Condition{.parent = 0, .values = {1.0}}},
      {"rate", LogUniform{1e-7, 1e-3, true}, {}}};
  RunningStudy study(Space(parameters, {}, std::nullopt), Purpose::kUnderstand);
  int with_momentum = 0, frozen = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Point point = study.Run(TrialState::kSucceeded, trial % 5);
    with_momentum += IsAbsent(point[1]) ? 0 : 1;
    frozen += point[2] == 0.0 ? 1 : 0;
  }
  EXPECT_GT(with_momentum, 20);
  EXPECT_LT(with_momentum, 45);
  EXPECT_GT(frozen, 5);
  EXPECT_LT(frozen, 25);
}

TEST(PurposeSampler, LeavesSamplersAloneThatDoNotLearnOrImitate) {
  const Space space = SevenLevelModules(2);
  const auto served = [&](const SamplerSpec& spec, std::size_t objectives) {
    return ServesPurpose(spec, space,
                         std::vector<Objective>(objectives, kLoss[0]));
  };
  EXPECT_TRUE(served({.name = "tpe", .options = {}}, 1));
  EXPECT_TRUE(served({.name = "levels-gp", .options = {}}, 1));
  EXPECT_TRUE(served({.name = "auto", .options = {}}, 1));
  EXPECT_FALSE(served({.name = "auto", .options = {{"pick", "brute"}}}, 1));
  EXPECT_FALSE(served({.name = "tpe", .options = {{"compat", "v5"}}}, 1));
  EXPECT_FALSE(served({.name = "tpe", .options = {}}, 2));
  for (const char* name : {"grid", "brute", "qmc", "random", "motpe"}) {
    EXPECT_FALSE(served({.name = name, .options = {}}, 1)) << name;
  }
}

TEST(PurposeSampler, BothProposesWhatBestWouldInItsOwnTrials) {
  // Beyond the last trial that tells, all are the wrapped sampler's.
  const Space space = SevenLevelModules(3);
  History history;
  Rng luck(5);
  for (int i = 0; i < 40; ++i) {
    Observation trial;
    trial.number = i;
    trial.state = TrialState::kSucceeded;
    trial.point = DrawPoint(space, kFrozenShare, luck);
    trial.values = {luck.Uniform()};
    history.Put(trial);
  }
  const auto best = *MakeSampler({.name = "tpe", .options = {}}, space, kLoss);
  const auto both = *MakeSampler(
      {.name = "tpe", .options = {}, .purpose = Purpose::kBoth}, space, kLoss);
  Rng one(1, 2), other(1, 2);
  EXPECT_EQ(*best->Propose(history, kMostTelling, one),
            *both->Propose(history, kMostTelling, other));
}

LedgerTrial Valued(std::int64_t number, double loss) {
  LedgerTrial trial;
  trial.number = number;
  trial.part = TrialPart::kValued;
  trial.loss = loss;
  return trial;
}

bool RestsAfter(const std::vector<double>& losses) {
  std::vector<LedgerTrial> trials;
  for (const double loss : losses) {
    trials.push_back(Valued(static_cast<std::int64_t>(trials.size()), loss));
  }
  std::vector<const LedgerTrial*> list;
  for (const LedgerTrial& trial : trials) list.push_back(&trial);
  return IsResting(list);
}

TEST(TrialRole, DealsOutItsShareInEveryStretch) {
  for (const double start : {0.0, 0.3, 0.99}) {
    for (int from = 0; from < 500; from += 50) {
      int dealt = 0;
      for (int n = from; n < from + 50; ++n) {
        dealt += IsDealt(n, 0.3, start) ? 1 : 0;
      }
      EXPECT_NEAR(dealt, 15, 1) << start << " from " << from;
    }
  }
}

TEST(TrialRole, ASearchThatGetsOnDoesNotRest) {
  std::vector<double> falling;
  for (int i = 0; i < 100; ++i) falling.push_back(-i);
  EXPECT_FALSE(RestsAfter(falling));
  EXPECT_FALSE(RestsAfter({}));
}

TEST(TrialRole, ASearchRestsWhenTheBestIsLongAgo) {
  std::vector<double> losses(100, 1.0);
  losses[60] = 0.0;
  EXPECT_TRUE(RestsAfter(losses));
  losses[60] = 1.0;
  losses[90] = 0.0;
  EXPECT_FALSE(RestsAfter(losses));
}

TEST(TrialRole, AFewTrialsAreNoRest) {
  EXPECT_FALSE(RestsAfter(std::vector<double>(kRestingTrials, 1.0)));
  EXPECT_TRUE(RestsAfter(std::vector<double>(kRestingTrials + 1, 1.0)));
}

}  // namespace
}  // namespace frostline::sampler
