// SPDX-License-Identifier: Apache-2.0
#include "sampler/split.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "study/objective.h"
#include "tests/support/objectives.h"

namespace frostline::sampler {
namespace {

TEST(NonDominationRanks, PeelTheFrontsOff) {
  EXPECT_THAT(NonDominationRanks({{3, 3}, {1, 2}, {2, 1}, {2, 2}, {1, 2}}),
              testing::ElementsAre(2, 0, 0, 1, 0));
}

TEST(NonDominationRanks, AgreeWithTheDefinition) {
  Rng rng(4);
  for (const std::size_t objectives : {1u, 2u, 3u, 4u}) {
    LossVectors losses(60, std::vector<double>(objectives));
    for (auto& loss : losses) {
      for (double& value : loss) value = static_cast<double>(rng.Below(8));
    }
    const std::vector<int> ranks = NonDominationRanks(losses);
    for (std::size_t i = 0; i < losses.size(); ++i) {
      int expected = 0;
      for (std::size_t j = 0; j < losses.size(); ++j) {
        if (Dominates(losses[j], losses[i])) {
          expected = std::max(expected, ranks[j] + 1);
        }
      }
      EXPECT_EQ(ranks[i], expected) << objectives << " objectives, point " << i;
    }
  }
}

TEST(NonDominationRanks, WhoBreaksConstraintsComesLastByHowMuch) {
  EXPECT_THAT(NonDominationRanks({{0, 0}, {2, 2}, {1, 1}, {0, 0}, {3, 0}},
                                 {0.5, -1.0, 0.0, 0.1, 0.5}),
              testing::ElementsAre(3, 1, 0, 2, 3));
}

TEST(Hypervolume, OfStaircasesByHand) {
  EXPECT_DOUBLE_EQ(Hypervolume({{1, 2}, {2, 1}}, {3, 3}), 3.0);
  EXPECT_DOUBLE_EQ(Hypervolume({{1, 2}, {2, 1}, {2, 2}, {5, 0}}, {3, 3}), 3.0);
  EXPECT_DOUBLE_EQ(Hypervolume({{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {2, 2, 2}),
                   7.0);
}

TEST(Hypervolume, AgreesWithCountingPoints) {
  Rng rng(2);
  LossVectors points(6, std::vector<double>(4));
  for (auto& point : points) {
    for (double& value : point) value = rng.Uniform();
  }
  int inside = 0;
  constexpr int kSamples = 40'000;
  for (int i = 0; i < kSamples; ++i) {
    std::vector<double> sample(4);
    for (double& value : sample) value = rng.Uniform();
    inside += std::any_of(points.begin(), points.end(), [&](const auto& point) {
      for (std::size_t m = 0; m < 4; ++m) {
        if (point[m] > sample[m]) return false;
      }
      return true;
    });
  }
  EXPECT_NEAR(Hypervolume(points, {1, 1, 1, 1}), inside / double{kSamples},
              0.0125);
}

TEST(Hypervolume, IsInfiniteOrNothingAtTheEdges) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Hypervolume({}, {1, 1}), 0.0);
  EXPECT_EQ(Hypervolume({{1, 0}, {2, -5}, {infinity, 0}}, {1, 1}), 0.0);
  EXPECT_EQ(Hypervolume({{-infinity, 0}, {0, 0}}, {1, 1}), infinity);
  EXPECT_EQ(Hypervolume({{0, 0, 0}}, {1, infinity, 1}), infinity);
}

// The inclusion-exclusion sum over all subsets, which nobody would use.
double VolumeBySubsets(const LossVectors& points,
                       const std::vector<double>& reference) {
  double volume = 0.0;
  for (std::size_t set = 1; set < std::size_t{1} << points.size(); ++set) {
    std::vector<double> corner(reference.size(), -1e9);
    double sign = -1.0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if ((set >> i & 1u) == 0) continue;
      sign = -sign;
      for (std::size_t m = 0; m < corner.size(); ++m) {
        corner[m] = std::max(corner[m], points[i][m]);
      }
    }
    volume += sign * BoxVolume(corner, reference);
  }
  return volume;
}

TEST(Hypervolume, IsExactForTwoToSixObjectives) {
  Rng rng(6);
  for (std::size_t objectives = 2; objectives <= 6; ++objectives) {
    for (int round = 0; round < 20; ++round) {
      LossVectors points(1 + rng.Below(8), std::vector<double>(objectives));
      for (auto& point : points) {
        // Coarse, so that there are ties and twins; some beyond the reference.
        for (double& value : point) value = 0.2 * double(rng.Below(7));
      }
      const std::vector<double> reference(objectives, 1.0);
      EXPECT_NEAR(Hypervolume(points, reference),
                  VolumeBySubsets(points, reference), 1e-12);
    }
  }
}

TEST(SelectByHypervolume, TakesTheGreatestAdditionEveryTime) {
  Rng rng(8);
  for (const std::size_t objectives : {2u, 3u, 4u}) {
    LossVectors front;
    for (int i = 0; i < 25; ++i) {
      std::vector<double> point(objectives);
      double length = 0.0;
      for (double& value : point) {
        value = 0.01 + rng.Uniform();
        length += value * value;
      }
      for (double& value : point) value = 1.0 - value / std::sqrt(length);
      front.push_back(point);
    }
    const std::vector<double> reference(objectives, 1.1);
    LossVectors taken;
    for (const std::size_t i : SelectByHypervolume(front, reference, 10)) {
      const double added = AddedVolume(front[i], taken, reference);
      for (const auto& other : front) {
        EXPECT_GE(added + 1e-12, AddedVolume(other, taken, reference));
      }
      taken.push_back(front[i]);
    }
    EXPECT_EQ(taken.size(), 10u);
  }
}

TEST(SelectByHypervolume, TwinsAreTakenWhenNothingElseIsLeft) {
  const LossVectors points = {{1, 2}, {1, 2}, {2, 1}, {1, 2}};
  EXPECT_THAT(SelectByHypervolume(points, {3, 3}, 3),
              testing::ElementsAre(0, 1, 2));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(SelectByHypervolume(points, {infinity, 3}, 1),
              testing::ElementsAre(0));
}

TEST(BestByHypervolume, TakesWholeRanksThenWhatAddsMost) {
  // The corner points of the front add less than the middle one.
  const LossVectors losses = {{0, 10}, {10, 0}, {4, 4}, {11, 11}};
  EXPECT_THAT(BestByHypervolume(losses, 1), testing::ElementsAre(2));
  EXPECT_THAT(BestByHypervolume(losses, 4),
              testing::UnorderedElementsAre(0, 1, 2, 3));
}

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
