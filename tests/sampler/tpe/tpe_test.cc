// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/tpe.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sampler/factory.h"
#include "sampler/split.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

constexpr int kLayers = 12;

Space Layers() {
  std::vector<Parameter> all;
  for (int i = 0; i < kLayers; ++i) {
    all.push_back({"layer." + std::to_string(i),
                   Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}},
                   {}});
  }
  return Space(all, {}, {});
}

// Later layers matter more; a frozen prefix costs no backward pass.
std::vector<double> ErrorAndSeconds(const Point& point) {
  double error = 0.0, seconds = 0.0;
  bool prefix = true;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double best = 3.0 + static_cast<double>(i % 4);
    const double off = (point[i] - best) / 6.0;
    error += (1.0 + static_cast<double>(i)) / 78.0 * off * off;
    prefix = prefix && point[i] == 0.0;
    seconds += 1.0 + (prefix ? 0.0 : 1.0) + (point[i] == 0.0 ? 0.0 : 1.0);
  }
  return {error, seconds / (3.0 * kLayers)};
}

const std::vector<Objective> kBoth = {{"error", Direction::kMinimize},
                                      {"seconds", Direction::kMinimize}};

double VolumeAfter(const std::string& name, int trials, std::uint64_t seed) {
  auto sampler = MakeSampler({.name = name, .options = {}}, Layers(), kBoth);
  EXPECT_OK(sampler);
  History history;
  LossVectors losses;
  for (std::int64_t number = 0; number < trials; ++number) {
    Rng rng(seed, static_cast<std::uint64_t>(number));
    Observation trial;
    trial.number = number;
    trial.state = TrialState::kSucceeded;
    trial.point = *(*sampler)->Propose(history, number, rng);
    trial.values = ErrorAndSeconds(trial.point);
    losses.push_back(trial.values);
    history.Put(std::move(trial));
  }
  return Hypervolume(losses, {0.5, 1.0});
}

TEST(Motpe, FindsALargerFrontThanChance) {
  int wins = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    wins += VolumeAfter("motpe", 80, seed) > VolumeAfter("random", 80, seed);
  }
  EXPECT_GE(wins, 4);
}

TEST(Motpe, IsWhatTpeDoesUnderSeveralObjectives) {
  EXPECT_EQ(VolumeAfter("motpe", 30, 3), VolumeAfter("tpe", 30, 3));
}

TEST(Motpe, RefusesOneObjectiveAndReadsTheOptionsOfTpe) {
  EXPECT_THAT(MakeSampler({.name = "motpe", .options = {}}, Layers(),
                          {{"error", Direction::kMinimize}}),
              FailsAt(ErrorId::kSamplerInvalid, "sampler.name"));
  EXPECT_OK(MakeSampler({.name = "motpe", .options = {{"startup_trials", "5"}}},
                        Layers(), kBoth));
  EXPECT_THAT(MakeSampler({.name = "motpe", .options = {{"depth", "3"}}},
                          Layers(), kBoth),
              FailsAt(ErrorId::kSamplerInvalid, "sampler.options.depth"));
}

Space SevenLevels(int modules) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < modules; ++i) {
    parameters.push_back({"layer." + std::to_string(i),
                          Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}},
                          {}});
  }
  return Space(parameters, {}, std::nullopt);
}

Observation Ended(std::int64_t number, const Point& point, double value) {
  Observation trial;
  trial.number = number;
  trial.state = TrialState::kSucceeded;
  trial.point = point;
  trial.values = {value};
  return trial;
}

// A bowl around one level of each module.
double Bowl(const Point& point) {
  const double best[] = {4, 2, 5, 3, 6};
  double loss = 0.0;
  for (std::size_t i = 0; i < point.size(); ++i) {
    loss += (point[i] - best[i]) * (point[i] - best[i]);
  }
  return loss;
}

double BestAfter(const std::string& name, int trials, std::uint64_t seed) {
  const Space space = SevenLevels(5);
  auto sampler = *MakeSampler({.name = name, .options = {}}, space, kLoss);
  History history;
  double best = std::numeric_limits<double>::infinity();
  for (int number = 0; number < trials; ++number) {
    Rng rng(seed, static_cast<std::uint64_t>(number));
    const Point point = *sampler->Propose(history, number, rng);
    best = std::min(best, Bowl(point));
    history.Put(Ended(number, point, Bowl(point)));
  }
  return best;
}

TEST(Tpe, FindsABowlThatRandomSearchDoesNot) {
  int better = 0, found = 0;
  constexpr int kSeeds = 20;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const double tpe = BestAfter("tpe", 80, seed);
    better += tpe < BestAfter("random", 80, seed);
    found += tpe <= 1.0;
  }
  EXPECT_GE(better, 18);
  EXPECT_GE(found, 15);
}

TEST(Tpe, IsRandomUntilEnoughTrialsHaveEnded) {
  const Space space = SevenLevels(5);
  ASSERT_OK_AND_ASSIGN(auto tpe, MakeTpeSampler({{{"startup_trials", "3"},
                                                  {"startup", "random"},
                                                  {"failures", "ignore"}},
                                                 space,
                                                 kLoss,
                                                 {}}));
  ASSERT_OK_AND_ASSIGN(
      auto random,
      MakeSampler({.name = "random", .options = {}}, space, kLoss));
  History history;
  for (int number = 0; number < 3; ++number) {
    Rng one(1, static_cast<std::uint64_t>(number)), two = one;
    ASSERT_OK_AND_ASSIGN(const Point point, tpe->Propose(history, number, one));
    EXPECT_TRUE(SamePoint(point, *random->Propose(history, number, two)));
    // A trial that failed is no trial that ended well.
    Observation failed = Ended(number + 100, point, 0.0);
    failed.state = TrialState::kFailed;
    history.Put(failed);
    history.Put(Ended(number, point, Bowl(point)));
  }
  int same = 0;
  for (int number = 3; number < 13; ++number) {
    Rng one(1, static_cast<std::uint64_t>(number)), two = one;
    same += SamePoint(*tpe->Propose(history, number, one),
                      *random->Propose(history, number, two));
  }
  EXPECT_LT(same, 3);
}

// Where eight workers are at it, little is to be found for a ninth.
TEST(Tpe, RunningTrialsKeepProposalsAway) {
  const FloatRange unit{0.0, 1.0, 0.0, false};
  const Space space({{"x", unit, {}}, {"y", unit, {}}}, {}, std::nullopt);
  const auto distance = [](const Point& point) {
    return std::hypot(point[0] - 0.5, point[1] - 0.5);
  };
  History history;
  Rng chance(2);
  for (int i = 0; i < 40; ++i) {
    const Point point = {chance.Uniform(), chance.Uniform()};
    history.Put(Ended(i, point, distance(point)));
  }
  const auto mean_distance = [&](const char* liar) {
    auto tpe = *MakeTpeSampler({{{"constant_liar", liar}}, space, kLoss, {}});
    double sum = 0.0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Rng rng(seed);
      sum += distance(*tpe->Propose(history, 99, rng)) / 200.0;
    }
    return sum;
  };
  const double nothing_runs = mean_distance("true");
  for (int i = 40; i < 48; ++i) {
    Observation running = Ended(i, {0.5, 0.5}, 0.0);
    running.state = TrialState::kRunning;
    running.values.clear();
    history.Put(running);
  }
  EXPECT_EQ(mean_distance("false"), nothing_runs);
  EXPECT_GT(mean_distance("true"), 1.3 * nothing_runs);
}

// The depth that is good, and in its branch the rate that is good.
TEST(Tpe, LearnsInsideConditions) {
  Condition deep;
  deep.parent = 0;
  deep.min = 2.0;
  deep.max = 3.0;
  const Space space({{"depth", IntRange{0, 3, 1, false}, {}},
                     {"rate", LogUniform{1e-6, 1e-2, true}, deep}},
                    {}, std::nullopt);
  const auto loss = [](const Point& point) {
    if (IsAbsent(point[1])) return 10.0;
    return point[1] == 0.0 ? 5.0 : std::abs(std::log10(point[1]) + 3.0);
  };
  ASSERT_OK_AND_ASSIGN(auto tpe, MakeTpeSampler({{}, space, kLoss, {}}));
  History history;
  int good = 0;
  for (int number = 0; number < 60; ++number) {
    Rng rng(4, static_cast<std::uint64_t>(number));
    ASSERT_OK_AND_ASSIGN(const Point point, tpe->Propose(history, number, rng));
    good += number >= 30 && loss(point) < 1.0;
    history.Put(Ended(number, point, loss(point)));
  }
  EXPECT_GE(good, 20);  // a fifth of 30 by chance
}

}  // namespace
}  // namespace frostline::sampler
