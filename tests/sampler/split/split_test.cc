// SPDX-License-Identifier: Apache-2.0
#include "sampler/split.h"

#include <limits>

#include "gmock/gmock.h"
#include "tests/support/objectives.h"

namespace frostline::sampler {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Observation Trial(TrialState state, std::vector<double> values,
                  std::vector<IntermediateValue> intermediate = {},
                  std::vector<double> constraints = {}) {
  Observation trial;
  trial.state = state;
  trial.values = std::move(values);
  trial.intermediate = std::move(intermediate);
  trial.constraints = std::move(constraints);
  return trial;
}

// Trials that are of use get the numbers 0, 1, 2, … as they stand.
Split SplitOf(const std::vector<Observation>& trials, std::size_t below,
              const std::vector<Objective>& objectives = kLoss) {
  std::vector<SplitKey> keys(trials.size());
  std::vector<KeyedTrial> keyed;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto key = SplitKeyOf(trials[i], objectives);
    if (!key.has_value()) continue;
    keys[i] = *key;
    keyed.push_back({static_cast<std::int64_t>(i),
                     static_cast<std::uint32_t>(i), &keys[i]});
  }
  return SplitTrials(keyed, below);
}

// Written from best to worst, so that below is the first k for every k.
std::vector<Observation> BestToWorst() {
  return {Trial(TrialState::kSucceeded, {-1e308}),
          Trial(TrialState::kSucceeded, {0.5}, {}, {-1.0, 0.0}),
          Trial(TrialState::kSucceeded, {0.5}),
          Trial(TrialState::kSucceeded, {1e308}),
          Trial(TrialState::kPruned, {}, {{0, 1.0}, {2, 7.0}}),
          Trial(TrialState::kPruned, {}, {{1, 3.0}}),
          Trial(TrialState::kPruned, {}, {{1, 4.0}}),
          Trial(TrialState::kPruned, {}, {{1, kNaN}}),
          Trial(TrialState::kPruned, {}),
          Trial(TrialState::kSucceeded, {-9.0}, {}, {0.5, -9.0}),
          Trial(TrialState::kPruned, {}, {{9, 0.0}}, {0.5, 0.5}),
          Trial(TrialState::kSucceeded, {-9.0}, {}, {kNaN}),
          Trial(TrialState::kInfeasible, {}),
          Trial(TrialState::kRunning, {})};
}

TEST(SplitTrials, TheGoodSideFillsFromBestToWorst) {
  const std::vector<Observation> trials = BestToWorst();
  const std::size_t ended = trials.size() - 1;
  for (std::size_t k = 0; k <= ended; ++k) {
    const Split split = SplitOf(trials, k);
    ASSERT_EQ(split.below.size(), k);
    for (std::uint32_t i = 0; i < k; ++i) EXPECT_EQ(split.below[i], i);
    EXPECT_EQ(split.above.back(), ended) << "running trials count as bad";
  }
}

TEST(SplitTrials, MaximisingTurnsTheOrderAround) {
  const std::vector<Objective> accuracy = {{"acc", Direction::kMaximize}};
  const Split split = SplitOf({Trial(TrialState::kSucceeded, {0.1}),
                               Trial(TrialState::kSucceeded, {0.9}),
                               Trial(TrialState::kPruned, {}, {{0, 0.2}}),
                               Trial(TrialState::kPruned, {}, {{0, 0.8}})},
                              3, accuracy);
  EXPECT_THAT(split.below, testing::ElementsAre(0, 1, 3));
}

TEST(SplitTrials, WithSeveralObjectivesNobodyGoodIsDominated) {
  const std::vector<Objective> two = {{"loss", Direction::kMinimize},
                                      {"acc", Direction::kMaximize}};
  const Split split = SplitOf({Trial(TrialState::kSucceeded, {1.0, 0.5}),
                               Trial(TrialState::kSucceeded, {0.5, 0.9}),
                               Trial(TrialState::kSucceeded, {0.4, 0.1}),
                               Trial(TrialState::kSucceeded, {2.0, 0.4})},
                              2, two);
  EXPECT_THAT(split.below, testing::ElementsAre(1, 2));
}

TEST(SplitKeyOf, FailedCancelledAndQueuedTrialsTellNothing) {
  for (const TrialState state :
       {TrialState::kFailed, TrialState::kCancelled, TrialState::kQueued}) {
    EXPECT_FALSE(SplitKeyOf(Trial(state, {}), kLoss).has_value());
  }
  EXPECT_FALSE(
      SplitKeyOf(Trial(TrialState::kSucceeded, {}), kLoss).has_value());
}

TEST(CountBelow, IsATenthCappedForOneObjective) {
  EXPECT_EQ(CountBelow(1, 1), 1u);
  EXPECT_EQ(CountBelow(10, 1), 1u);
  EXPECT_EQ(CountBelow(11, 1), 2u);
  EXPECT_EQ(CountBelow(9000, 1), 25u);
  EXPECT_EQ(CountBelow(9000, 2), 900u);
}

}  // namespace
}  // namespace frostline::sampler
