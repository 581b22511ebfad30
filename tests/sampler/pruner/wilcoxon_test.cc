// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/wilcoxon.h"

#include <cmath>

#include "tests/sampler/pruner/pruner_world.h"

namespace frostline::sampler {
namespace {

bool JudgeWilcoxon(const Options& options, const History& history,
                   const std::vector<Objective>& objectives = kLoss) {
  return Made("wilcoxon", options, objectives)->Judge(history, 9).prune;
}

TEST(SignedRank, IsExactForFewDifferences) {
  EXPECT_DOUBLE_EQ(SignedRankProbability({1, 2, 3}), 1.0 / 8);
  EXPECT_DOUBLE_EQ(SignedRankProbability({-1, 2, 3}), 2.0 / 8);
  EXPECT_DOUBLE_EQ(SignedRankProbability({-1, -2, -3}), 1.0);
  // With ties: of the sums 0, 2 (twice), 4, half of the larger ones and more.
  EXPECT_DOUBLE_EQ(SignedRankProbability({1, 1}), 1.0 / 4);
  EXPECT_DOUBLE_EQ(SignedRankProbability({1, -1}), 3.0 / 4);
  EXPECT_DOUBLE_EQ(SignedRankProbability({0, 0, 5}), 1.0 / 2);
}

TEST(SignedRank, IsNormalForMany) {
  std::vector<double> differences;
  for (int i = 1; i <= 51; ++i) differences.push_back(i % 3 == 0 ? -i : i);
  // 867 of 1326 to the positive side; deviation sqrt(51 * 52 * 103 / 24).
  const double z = (867.0 - 663.0) / std::sqrt(51.0 * 52.0 * 103.0 / 24.0);
  EXPECT_DOUBLE_EQ(SignedRankProbability(differences),
                   0.5 * std::erfc(z / std::sqrt(2.0)));
  EXPECT_EQ(SignedRankProbability(std::vector<double>(14, 0.0)), 0.5);
}

// The best trial is number 0, with 1 at every of six steps.
History OneGoodTrial() {
  History history;
  Put(history, 0, TrialState::kSucceeded, {1, 1, 1, 1, 1, 1}, {1.0});
  Put(history, 1, TrialState::kSucceeded, {9, 9, 9, 9, 9, 9}, {9.0});
  return history;
}

TEST(WilcoxonPruner, StopsWhatIsWorseOnEnoughOfTheSameSteps) {
  History history = OneGoodTrial();
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2});
  EXPECT_FALSE(JudgeWilcoxon({}, history));  // p is 1/8
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2, 2.3});
  EXPECT_TRUE(JudgeWilcoxon({}, history));  // p is 1/16
  EXPECT_TRUE(JudgeWilcoxon({{"startup_steps", "4"}}, history));
  EXPECT_FALSE(JudgeWilcoxon({{"startup_steps", "5"}}, history));
  EXPECT_FALSE(JudgeWilcoxon({{"p_threshold", "0.05"}}, history));
}

TEST(WilcoxonPruner, KnowsTheDirection) {
  History history = OneGoodTrial();  // of accuracies 9 is best
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2, 2.3});
  EXPECT_TRUE(JudgeWilcoxon({}, history, kAccuracy));
  Put(history, 9, TrialState::kRunning, {9.2, 9.1, 9.3, 9.4});
  EXPECT_FALSE(JudgeWilcoxon({}, history, kAccuracy));
}

TEST(WilcoxonPruner, SparesATrialWhoseMeanIsAsGood) {
  History history;
  Put(history, 0, TrialState::kSucceeded, {1, 1, 1, 1, 99}, {1.0});
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2, 2.3});
  EXPECT_FALSE(JudgeWilcoxon({}, history));
}

TEST(WilcoxonPruner, WhatIsNotFiniteProvesNothing) {
  History history = OneGoodTrial();
  Put(history, 9, TrialState::kRunning, {2, 2.1, kInfinity, 2.3, 2.4});
  EXPECT_FALSE(JudgeWilcoxon({}, history));
  Put(history, 0, TrialState::kSucceeded, {1, 1, kNaN, 1, 1, 1}, {1.0});
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2, 2.3, 2.4});
  EXPECT_FALSE(JudgeWilcoxon({}, history));
}

TEST(WilcoxonPruner, TheBestIsTheBestOfThoseWithinTheConstraints) {
  History history = OneGoodTrial();
  Observation broken = *history.Find(0);
  broken.constraints = {0.5};
  history.Put(broken);
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2, 2.3});
  EXPECT_FALSE(JudgeWilcoxon({}, history));  // the other one has 9 everywhere
}

}  // namespace
}  // namespace frostline::sampler
