// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "importance/plan/study_plan.h"
#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

// Three modules with rates of their own, and a head that is always trained.
Space Searched() {
  return Space(LevelSpace(3, 4).parameters(),
               {{"layer.0", 0, 0.0, {}},
                {"layer.1", 1, 0.0, {}},
                {"layer.2", 2, 0.0, {}},
                {"head", std::nullopt, 1e-3, {}}},
               std::nullopt);
}

constexpr double kWeights[] = {700.0, 701.0, 1200.0};

std::vector<Observation> SavedTrials(int count, double seconds_noise) {
  std::vector<Observation> trials;
  Rng rng(3);
  for (int i = 0; i < count; ++i) {
    Observation trial =
        Succeeded(i, sampler::DrawPoint(Searched(), 0.2, rng), 0.0);
    trial.trained_parameters = 50.0;
    trial.cost_s = 10.0 + seconds_noise * rng.Normal();
    for (std::size_t m = 0; m < 3; ++m) {
      if (trial.point[m] == 0.0) continue;
      trial.trained_parameters += kWeights[m];
      trial.cost_s += 10.0;
    }
    trials.push_back(std::move(trial));
  }
  return trials;
}

PlanSavings SavingsOf(const std::vector<Observation>& trials,
                      const Point& plan) {
  std::vector<const Observation*> pointers;
  for (const Observation& trial : trials) pointers.push_back(&trial);
  return EstimateSavings(Searched(), pointers, plan);
}

TEST(PlanSavings, WeightsComeOutExactlyAndSecondsAbout) {
  const PlanSavings savings = SavingsOf(SavedTrials(60, 1.0), {0, 3, 0});
  EXPECT_NEAR(savings.trained_parameters, 1900.0, 1e-6);
  EXPECT_NEAR(savings.seconds_share, 0.5, 0.05);
}

TEST(PlanSavings, APlanThatTrainsEverythingSavesNothing) {
  const PlanSavings savings = SavingsOf(SavedTrials(60, 1.0), {1, 3, 2});
  EXPECT_EQ(savings.trained_parameters, 0.0);
  EXPECT_EQ(savings.seconds_share, 0.0);
}

TEST(PlanSavings, WhatNoTrialFrozeIsNotKnown) {
  std::vector<Observation> never = SavedTrials(60, 1.0);
  for (Observation& trial : never) trial.point[1] = 2.0;
  EXPECT_TRUE(std::isnan(SavingsOf(never, {0, 0, 1}).trained_parameters));
  EXPECT_TRUE(std::isnan(SavingsOf(never, {0, 0, 1}).seconds_share));
}

TEST(PlanSavings, ModulesFrozenTogetherAreNotToldApart) {
  std::vector<Observation> together = SavedTrials(60, 1.0);
  for (Observation& trial : together) {
    if ((trial.point[0] == 0.0) == (trial.point[1] == 0.0)) continue;
    trial.point[1] = trial.point[0];
    trial.trained_parameters += trial.point[1] == 0.0 ? -701.0 : 701.0;
  }
  EXPECT_NEAR(SavingsOf(together, {0, 0, 1}).trained_parameters, 1401.0, 1e-6);
  EXPECT_TRUE(std::isnan(SavingsOf(together, {0, 1, 1}).trained_parameters));
}

TEST(PlanSavings, NoiseThatHidesTheSecondsIsSaid) {
  EXPECT_TRUE(
      std::isnan(SavingsOf(SavedTrials(12, 40.0), {0, 3, 0}).seconds_share));
  std::vector<Observation> silent = SavedTrials(30, 1.0);
  for (Observation& trial : silent) {
    trial.cost_s = 0.0;
    trial.trained_parameters = 0.0;
  }
  EXPECT_TRUE(std::isnan(SavingsOf(silent, {0, 3, 0}).seconds_share));
  EXPECT_TRUE(std::isnan(SavingsOf(silent, {0, 3, 0}).trained_parameters));
}

}  // namespace
}  // namespace frostline::importance
