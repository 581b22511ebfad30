// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <set>

#include "sampler/draw/finite.h"
#include "sampler/factory.h"
#include "tests/sampler/odd_spaces.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

absl::StatusOr<std::unique_ptr<Sampler>> Brute(const Space& space) {
  return MakeSampler({.name = "brute", .options = {}}, space, kLoss);
}

Condition When(int parent, double value) {
  Condition when;
  when.parent = parent;
  when.values = {value};
  return when;
}

// Two levels; under the second one three more. Four points, not six.
Space Branching() {
  return Space({{"a", Levels{{0, 1e-5}}, {}},
                {"b", IntRange{1, 3, 1, false}, When(0, 1.0)}},
               {}, {});
}

Space LayersOfForce(int count) {
  std::vector<Parameter> all;
  for (int i = 0; i < count; ++i) {
    all.push_back({"layer." + std::to_string(i),
                   Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}},
                   {}});
  }
  return Space(all, {}, {});
}

Observation SeenForce(std::int64_t number, const Point& point,
                      TrialState state) {
  Observation trial;
  trial.number = number;
  trial.point = point;
  trial.state = state;
  return trial;
}

Point DrawAll(Sampler& sampler, std::int64_t number,
              const History& history = {}, std::uint64_t seed = 7) {
  Rng rng(seed, static_cast<std::uint64_t>(number));
  auto point = sampler.Propose(history, number, rng);
  EXPECT_OK(point);
  return point.ok() ? *std::move(point) : Point();
}

// Proposes until the space is exhausted; the points, all of them distinct.
std::set<std::vector<double>> Cover(Sampler& sampler, History history,
                                    std::int64_t first) {
  constexpr TrialState kStates[] = {TrialState::kRunning, TrialState::kFailed,
                                    TrialState::kSucceeded, TrialState::kPruned,
                                    TrialState::kInfeasible};
  std::set<std::vector<double>> points;
  for (std::int64_t number = first;; ++number) {
    Rng rng(7, static_cast<std::uint64_t>(number));
    const auto point = sampler.Propose(history, number, rng);
    if (!point.ok()) {
      EXPECT_THAT(point, FailsWith(ErrorId::kSpaceExhausted));
      return points;
    }
    std::vector<double> key = *point;
    for (double& value : key) value = IsAbsent(value) ? -9e9 : value;
    EXPECT_TRUE(points.insert(key).second);
    history.Put(SeenForce(number, *point, kStates[number % 5]));
  }
}

TEST(BruteForce, EveryPointOfAConditionalSpaceComesOnce) {
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(Branching()));
  EXPECT_EQ(Cover(*brute, History(), 0).size(), 4u);
}

TEST(BruteForce, EveryPointIsEquallyLikelyToBeTheFirst) {
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(Branching()));
  std::map<double, int> tally;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const Point point = DrawAll(*brute, 0, {}, static_cast<std::uint64_t>(i));
    ++tally[point[0] == 0.0 ? 0.0 : point[1]];
  }
  for (const auto& [point, count] : tally) {
    EXPECT_NEAR(count, kDraws / 4, 120) << point;
  }
}

TEST(BruteForce, WhatIsInTheHistoryIsNotProposedAgainInWhateverState) {
  History history;
  history.Put(SeenForce(5, {1.0, 2.0}, TrialState::kCancelled));
  history.Put(SeenForce(2, {0.0, kAbsent}, TrialState::kQueued));
  history.Put(
      SeenForce(3, {1.0, 9.0}, TrialState::kSucceeded));  // not of the space
  history.Put(SeenForce(4, {1.0, 2.0}, TrialState::kFailed));  // again
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(Branching()));
  EXPECT_EQ(Cover(*brute, history, 6).size(), 2u);
}

TEST(BruteForce, ARestartInTheMiddleGoesOn) {
  ASSERT_OK_AND_ASSIGN(auto before, Brute(LayersOfForce(2)));
  History history;
  for (std::int64_t number = 0; number < 20; ++number) {
    history.Put(SeenForce(number, DrawAll(*before, number, history),
                          TrialState::kRunning));
  }
  ASSERT_OK_AND_ASSIGN(auto after, Brute(LayersOfForce(2)));
  EXPECT_EQ(Cover(*after, history, 20).size(), 29u);
}

TEST(BruteForce, ATrialDoesNotStandInItsOwnWay) {
  const Space one({{"a", Levels{{1e-5}}, {}}}, {}, {});
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(one));
  History history;
  history.Put(SeenForce(0, {0.0}, TrialState::kRunning));
  EXPECT_EQ(DrawAll(*brute, 0, history), Point{0.0});
  Rng rng(1);
  EXPECT_THAT(brute->Propose(history, 1, rng),
              FailsWith(ErrorId::kSpaceExhausted));
}

TEST(BruteForce, APointThatIsTakenBackIsProposedAfterAll) {
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(Branching()));
  History history;
  history.Put(SeenForce(0, {0.0, kAbsent}, TrialState::kRunning));
  EXPECT_EQ(Cover(*brute, history, 1).size(), 3u);
  history.Put(SeenForce(0, {1.0, 1.0}, TrialState::kRunning));
  EXPECT_TRUE(Cover(*brute, history, 1).contains({0.0, -9e9}));
}

TEST(BruteForce, APointThatTwoTrialsHaveIsTakenUntilBothGiveItUp) {
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(Branching()));
  History history;
  for (const std::int64_t number : {0, 1}) {
    history.Put(SeenForce(number, {0.0, kAbsent}, TrialState::kRunning));
  }
  EXPECT_EQ(Cover(*brute, history, 2).size(), 3u);
  history.Put(SeenForce(0, {1.0, 1.0}, TrialState::kRunning));
  EXPECT_EQ(Cover(*brute, history, 2).size(), 2u);
}

TEST(FiniteTree, CountsWhatHangsOnWhatByMultiplying) {
  const Levels three{{0, 1, 2}};
  // b and c under a = 1, d under b = 2, e by itself.
  const Space space({{"a", Levels{{0, 1}}, {}},
                     {"b", three, When(0, 1.0)},
                     {"c", three, When(0, 1.0)},
                     {"d", three, When(1, 2.0)},
                     {"e", three, {}}},
                    {}, {});
  const FiniteTree tree(space);
  EXPECT_EQ(tree.CountPoints(), (1 + (1 + 1 + 3) * 3) * 3);
  EXPECT_EQ(tree.CountOwn(0, 1), 15.0);
  EXPECT_EQ(tree.CountPending(1, {1, kAbsent, kAbsent, kAbsent, kAbsent}), 9.0);
}

TEST(BruteForce, WorksWhereTheSpaceIsFarTooLargeToList) {
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(LayersOfForce(26)));
  History history;
  for (std::int64_t number = 0; number < 500; ++number) {
    const Point point = DrawAll(*brute, number, history);
    for (const Observation& trial : history.trials()) {
      ASSERT_FALSE(SamePoint(point, trial.point));
    }
    history.Put(SeenForce(number, point, TrialState::kSucceeded));
  }
  ASSERT_OK_AND_ASSIGN(auto largest, Brute(LayersOfForce(kMaxParameters)));
  EXPECT_OK(LayersOfForce(kMaxParameters).Check(DrawAll(*largest, 0)));
}

TEST(BruteForce, FindsTheLastPoints) {
  // 1,000 points of which all but three are taken.
  const Space space({{"a", IntRange{0, 9, 1, false}, {}},
                     {"b", IntRange{10, 1000, 10, true}, {}}},
                    {}, {});
  const GridPoints points(space);
  History history;
  Point point = points.First();
  for (std::int64_t number = 0; number < 1000; ++number) {
    if (number % 400 != 3) {
      history.Put(SeenForce(number, point, TrialState::kSucceeded));
    }
    points.Advance(point);
  }
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(space));
  EXPECT_EQ(Cover(*brute, history, 1000).size(), 3u);
}

TEST(BruteForce, SteppedValuesAreRecognisedInSpiteOfRounding) {
  const Space space({{"x", FloatRange{0.0, 0.3, 0.1, false}, {}}}, {}, {});
  History history;
  history.Put(SeenForce(0, {0.3}, TrialState::kSucceeded));
  history.Put(SeenForce(1, {0.1 + 0.1}, TrialState::kSucceeded));
  history.Put(SeenForce(2, {std::nextafter(0.1, 1.0)}, TrialState::kSucceeded));
  ASSERT_OK_AND_ASSIGN(auto brute, Brute(space));
  EXPECT_EQ(Cover(*brute, history, 3), (std::set<std::vector<double>>{{0.0}}));
}

TEST(BruteForce, RefusesWhatItCannotCount) {
  const Space continuous({{"lr", LogUniform{1e-6, 1e-3, true}, {}}}, {}, {});
  const auto refused = Brute(continuous);
  EXPECT_THAT(refused, FailsAt(ErrorId::kSamplerInvalid, "sampler.name"));
  EXPECT_THAT(std::string(refused.status().message()),
              testing::HasSubstr("lr"));
  const Space wide({{"n", IntRange{0, 1'000'000, 1, false}, {}}}, {}, {});
  EXPECT_THAT(Brute(wide), FailsWith(ErrorId::kSpaceTooLarge));
  EXPECT_THAT(Brute(Space()), FailsWith(ErrorId::kSamplerInvalid));
}

TEST(BruteForce, CoversOddSpacesAsOftenAsTheyHavePoints) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    const Space space = OddSpace(rng, true);
    const History history = OddHistory(space, 1, 20, rng);
    ASSERT_OK_AND_ASSIGN(auto brute, Brute(space));
    const auto all =
        static_cast<std::size_t>(GridPoints(space).Count(1'000'000));
    EXPECT_EQ(FiniteTree(space).CountPoints(), static_cast<double>(all));
    EXPECT_EQ(Cover(*brute, History(), 0).size(), all) << seed;
    const std::size_t rest = Cover(*brute, history, 20).size();
    EXPECT_LE(rest, all) << seed;
    EXPECT_GE(rest + history.size(), all) << seed;
  }
}

}  // namespace
}  // namespace frostline::sampler
