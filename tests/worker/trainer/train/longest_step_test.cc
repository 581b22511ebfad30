// SPDX-License-Identifier: Apache-2.0
//
// The real optimizer against gradients that push as far as any can.
#include "worker/trainer/train/longest_step.h"

#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;

OptimizerOptions Adam(double beta1, double beta2) {
  OptimizerOptions options;
  options.beta1 = beta1;
  options.beta2 = beta2;
  return options;
}

double BoundOf(const OptimizerOptions& options) {
  return LongestStep(options, 0.0).value().each;
}

// The longest of all steps, in rates.
double LongestOf(const OptimizerOptions& options,
                 const std::vector<float>& gradients) {
  TrainedTensor weight;
  weight.value = at::tensor({0.0F});
  weight.value.set_requires_grad(true);
  weight.rate = 1.0;
  Optimizer optimizer(options, {weight});
  double longest = 0.0;
  double before = 0.0;
  for (const float gradient : gradients) {
    weight.value.mutable_grad() = at::tensor({gradient});
    optimizer.Step(1.0);
    const double now = weight.value[0].item<double>();
    longest = std::max(longest, std::abs(now - before));
    before = now;
  }
  return longest;
}

// Long silence, then gradients that grow by b2 / b1 a step: where the
// inequality of Cauchy and Schwarz is an equation.
std::vector<float> Worst(const OptimizerOptions& options, int silence) {
  std::vector<float> gradients(static_cast<std::size_t>(silence), 0.0F);
  for (int age = 200; age >= 0; --age) {
    gradients.push_back(static_cast<float>(
        std::pow(options.beta1 / options.beta2, static_cast<double>(age))));
  }
  return gradients;
}

TEST(LongestStep, IsThatOfTheFormula) {
  EXPECT_NEAR(BoundOf(Adam(0.9, 0.999)), 7.2703, 1e-4);
  EXPECT_NEAR(BoundOf(Adam(0.0, 0.999)), 31.6228, 1e-4);
}

TEST(LongestStep, AdamComesCloseToItAndNeverPasses) {
  for (const OptimizerOptions& options :
       {Adam(0.9, 0.999), Adam(0.8, 0.99), Adam(0.95, 0.999)}) {
    const double bound = BoundOf(options);
    const double longest = LongestOf(options, Worst(options, 6000));
    EXPECT_GT(longest, 0.99 * bound) << options.beta1;
    EXPECT_LE(longest, bound * (1.0 + 1e-5)) << options.beta1;
  }
}

// Also from the first step on, whose moments are corrected most.
TEST(LongestStep, NoOtherGradientsPassItEither) {
  std::mt19937 chance(7);
  std::normal_distribution<float> normal;
  for (const OptimizerOptions& options : {Adam(0.9, 0.999), Adam(0.9, 0.9)}) {
    for (int silence = 0; silence < 40; ++silence) {
      std::vector<float> gradients = Worst(options, silence);
      for (int i = 0; i < 300; ++i) {  // now and then a hundredfold
        const float size = i % 50 == 0 ? 100.0F : 1.0F;
        gradients.push_back(size * normal(chance));
      }
      EXPECT_LE(LongestOf(options, gradients), BoundOf(options) * (1.0 + 1e-5));
    }
  }
}

TEST(LongestStep, OnlyAdamWDecaysBesideIt) {
  OptimizerOptions options;
  options.weight_decay = 0.1;
  EXPECT_EQ(LongestStep(options, 0.0).value().decay, 0.1);
  options.kind = OptimizerKind::kAdam;
  EXPECT_EQ(LongestStep(options, 0.0).value().decay, 0.0);
}

TEST(LongestStep, ThatOfSgdIsWhatClippingLeavesAndMomentumGathers) {
  OptimizerOptions options;
  options.kind = OptimizerKind::kSgd;
  options.momentum = 0.9;
  const std::vector<float> clipped(400, 0.5F);
  const StepBound bound = LongestStep(options, 0.5).value();
  EXPECT_EQ(bound.each, 0.0);
  EXPECT_NEAR(bound.together, 5.0, 1e-9);
  EXPECT_NEAR(LongestOf(options, clipped), 5.0, 1e-3);
}

TEST(LongestStep, WhatHasNoneIsRefused) {
  OptimizerOptions options;
  options.kind = OptimizerKind::kSgd;
  const Expected<StepBound> sgd = LongestStep(options, 0.0);
  ASSERT_FALSE(sgd.ok());
  EXPECT_EQ(sgd.fault().kind, FaultKind::kMisuse);
  EXPECT_THAT(sgd.fault().cause, HasSubstr("sgd without clipping"));
  EXPECT_EQ(LongestStep(Adam(0.95, 0.9), 1.0).fault().kind, FaultKind::kMisuse);
  EXPECT_EQ(LongestStep(Adam(0.9, 0.0), 1.0).fault().kind, FaultKind::kMisuse);
}

}  // namespace
}  // namespace frostline::trainer
