// SPDX-License-Identifier: Apache-2.0
#include "server/search/leader_repeats.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

const std::vector<Objective> kAccuracy = {{"accuracy", Direction::kMaximize}};
constexpr RepeatRule kThreeOfTwo = {.times = 3, .leaders = 2, .after = 0};

// Trials 0, 1, 2, … of one parameter.
class Trials {
 public:
  Trials& Succeeded(double x, double value, std::uint64_t seed = 0) {
    return Put(x, TrialState::kSucceeded, {value}, seed);
  }
  Trials& Put(double x, TrialState state, std::vector<double> values = {},
              std::uint64_t seed = 0) {
    Observation trial;
    trial.number = static_cast<std::int64_t>(history.size());
    trial.state = state;
    trial.point = {x};
    trial.values = std::move(values);
    trial.seed = seed;
    history.Put(std::move(trial));
    return *this;
  }
  std::optional<Point> Next(const RepeatRule& rule = kThreeOfTwo) const {
    return LeaderToRepeat(rule, kAccuracy, history,
                          static_cast<std::int64_t>(history.size()));
  }

  History history;
};

TEST(LeaderRepeats, TheBestPointsRunUntilEachHasItsRuns) {
  Trials trials;
  trials.Succeeded(1, .5).Succeeded(2, .9).Succeeded(3, .8).Succeeded(4, .6);
  std::vector<double> repeated;
  while (const auto next = trials.Next()) {
    repeated.push_back((*next)[0]);
    trials.Succeeded((*next)[0], (*next)[0] == 2 ? .9 : .8);
  }
  EXPECT_THAT(repeated, ElementsAre(2, 3, 2, 3));
}

TEST(LeaderRepeats, APointThatLedByLuckGivesItsPlaceUp) {
  Trials trials;
  trials.Succeeded(1, .5).Succeeded(2, .95).Succeeded(3, .8).Succeeded(4, .79);
  trials.Succeeded(2, .4).Succeeded(3, .8).Succeeded(3, .8);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(4)));
}

// All would fall with the second seed; what ran with it does not make way for
// what did not.
TEST(LeaderRepeats, ASeedThatIsBadForAllIsHeldAgainstNone) {
  Trials trials;
  trials.Succeeded(1, .5, 1).Succeeded(2, .8, 1).Succeeded(3, .81, 1);
  trials.Succeeded(4, .795, 1);
  trials.Succeeded(3, .71, 2).Succeeded(2, .7, 2);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(3)));
  trials.Succeeded(3, .76, 3);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(2)));
}

TEST(LeaderRepeats, APointSeenOnceMustBeMuchBetterThanOneSeenOften) {
  constexpr RepeatRule kOne = {.times = 3, .leaders = 1, .after = 0};
  Trials trials;
  trials.Succeeded(1, .5).Succeeded(2, .8);
  for (int i = 0; i < 3; ++i) trials.Succeeded(3, .9);
  trials.Succeeded(4, .91);
  EXPECT_EQ(trials.Next(kOne), std::nullopt);
  trials.Succeeded(5, 1.2);
  EXPECT_THAT(trials.Next(kOne), Optional(ElementsAre(5)));
}

TEST(LeaderRepeats, NothingIsRepeatedWithoutARuleOrAResult) {
  Trials trials;
  EXPECT_EQ(trials.Next(), std::nullopt);
  trials.Put(1, TrialState::kRunning).Put(2, TrialState::kFailed);
  trials.Put(3, TrialState::kPruned, {.7});
  EXPECT_EQ(trials.Next(), std::nullopt);
  trials.Succeeded(4, .5);
  EXPECT_EQ(trials.Next(RepeatRule()), std::nullopt);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(4)));
}

TEST(LeaderRepeats, RunsThatWaitOrFailedCountSoThatNoneGoesOnForEver) {
  Trials trials;
  trials.Succeeded(1, .5).Put(1, TrialState::kRunning);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(1)));
  trials.Put(1, TrialState::kFailed);
  EXPECT_EQ(trials.Next(), std::nullopt);
}

TEST(LeaderRepeats, APointThatDivergedAtSomeSeedDoesNotLead) {
  Trials trials;
  trials.Succeeded(1, .5).Succeeded(2, .9).Put(2, TrialState::kInfeasible);
  EXPECT_THAT(trials.Next(), Optional(ElementsAre(1)));
}

TEST(LeaderRepeats, OfSeveralObjectivesTheFrontLeads) {
  const std::vector<Objective> two = {{"accuracy", Direction::kMaximize},
                                      {"seconds", Direction::kMinimize}};
  Trials trials;
  trials.Put(1, TrialState::kSucceeded, {.9, 10});
  trials.Put(2, TrialState::kSucceeded, {.5, 1});
  trials.Put(3, TrialState::kSucceeded, {.4, 20});  // worse than both
  const auto next = [&] {
    return LeaderToRepeat({2, 3, 0}, two, trials.history, 99);
  };
  ASSERT_THAT(next(), Optional(ElementsAre(1)));
  trials.Put(1, TrialState::kSucceeded, {.9, 10});
  ASSERT_THAT(next(), Optional(ElementsAre(2)));
  trials.Put(2, TrialState::kSucceeded, {.5, 1});
  EXPECT_EQ(next(), std::nullopt);
}

TEST(LeaderRepeats, SeesOnlyTrialsNumberedBelow) {
  Trials trials;
  trials.Succeeded(1, .5).Succeeded(2, .9).Succeeded(2, .9).Succeeded(1, .6);
  EXPECT_EQ(RunsBefore(trials.history, {2}, 2), 1);
  EXPECT_EQ(RunsBefore(trials.history, {2}, 4), 2);
  EXPECT_EQ(RunsBefore(trials.history, {7}, 4), 0);
  EXPECT_THAT(LeaderToRepeat({2, 1, 0}, kAccuracy, trials.history, 1),
              Optional(ElementsAre(1)));
}

// The order in which trials became known is no property of the study.
TEST(LeaderRepeats, TheOrderOfEndsDoesNotMatter) {
  Trials forward;
  for (int i = 0; i < 30; ++i) forward.Succeeded(i % 7, i % 7 < 4 ? .9 : .5);
  History backward;
  for (int i = 29; i >= 0; --i)
    backward.Put(forward.history.trials()[static_cast<std::size_t>(i)]);
  for (std::int64_t number = 10; number < 31; ++number) {
    const auto a =
        LeaderToRepeat({9, 3, 0}, kAccuracy, forward.history, number);
    const auto b = LeaderToRepeat({9, 3, 0}, kAccuracy, backward, number);
    EXPECT_EQ(a, b) << number;
  }
}

}  // namespace
}  // namespace frostline::server
