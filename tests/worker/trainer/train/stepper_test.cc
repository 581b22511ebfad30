// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/stepper.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/trainer/fixtures.h"

namespace frostline::trainer {
namespace {

const ModuleRates kAll = {{"embeddings", 1e-3}, {"layer.0", 1e-3},
                          {"layer.1", 1e-3},    {"layer.2", 1e-3},
                          {"pooler", 1e-3},     {"head", 1e-3}};

class Steps : public testing::Test {
 protected:
  Steps()
      : model_(LoadFixture("models/bert-tok17").model),
        batch_(BatchOf(
            ReadTensors(FixturePath("models/bert-tok17/io.safetensors")),
            "b0")) {
    batch_ = Noisy(std::move(batch_), 1);
    options_.schedule = {ScheduleKind::kConstant, 0, 10};
  }

  Stepper Make(Model& model, const ModuleRates& rates,
               const FreezeSemantics& semantics = {}) const {
    const Expected<FreezePlan> plan =
        MakeFreezePlan(model.config(), model.head().spec(), rates, semantics);
    EXPECT_TRUE(plan.ok()) << plan.fault().cause;
    return Stepper::Make(model, plan.value(), options_).value();
  }

  static StepResult Take(Stepper& stepper, std::span<const Batch> parts) {
    const Expected<StepResult> result = stepper.Step(parts);
    EXPECT_TRUE(result.ok()) << result.fault().cause;
    return result.ok() ? result.value() : StepResult();
  }

  static Batch Rows(const Batch& batch, std::int64_t first,
                    std::int64_t count) {
    Batch rows;
    rows.ids = batch.ids.narrow(0, first, count);
    rows.mask = batch.mask.narrow(0, first, count);
    rows.types = batch.types.narrow(0, first, count);
    rows.labels = batch.labels.narrow(0, first, count);
    rows.noise = batch.noise.narrow(0, first, count);
    rows.lengths = batch.lengths.narrow(0, first, count);
    return rows;
  }

  static double Distance(const Model& a, const Model& b) {
    double furthest = 0.0;
    for (std::size_t i = 0; i < a.weights().size(); ++i) {
      furthest = std::max(furthest, Furthest(a.weights()[i].value.detach(),
                                             b.weights()[i].value.detach()));
    }
    return furthest;
  }

  // A model that drops a tenth, as the published ones do.
  static Model WithDropout(const Model& model) {
    ModelConfig config = model.config();
    config.hidden_dropout = config.attention_dropout = 0.1;
    std::vector<at::Tensor> values;
    for (const Weight& each : model.weights()) {
      values.push_back(each.value.detach().clone());
    }
    return Model(config, model.head().spec(), values);
  }

  Model model_;
  Batch batch_;
  StepOptions options_;
};

// Rows differ in how many of their tokens are labelled, so a mean of means
// would be another loss.
TEST_F(Steps, WhatDecaysCanBeSaid) {
  options_.optimizer.weight_decay = 0.5;
  const auto decaying = [&] {
    Model model = model_;
    std::size_t count = 0;
    const Stepper stepper = Make(model, kAll);
    for (const TrainedTensor& each : stepper.optimizer().tensors()) {
      count += each.decays ? 1 : 0;
    }
    return count;
  };
  const std::size_t as_transformers = decaying();
  options_.no_decay = {"bias"};  // so that scales of LayerNorm decay
  const std::size_t norms = 1 + 2 * 3;
  EXPECT_EQ(decaying(), as_transformers + norms);
  options_.no_decay = std::vector<std::string>{};
  EXPECT_EQ(decaying(), model_.weights().size());
}

TEST_F(Steps, AccumulationIsOneStepOverAllOfThem) {
  options_.optimizer.kind = OptimizerKind::kSgd;
  Stepper whole = Make(model_, kAll);
  Model other = LoadFixture("models/bert-tok17").model;
  Stepper cut = Make(other, kAll);
  const std::array<Batch, 2> parts = {Rows(batch_, 0, 1), Rows(batch_, 1, 3)};
  const StepResult one = Take(whole, {&batch_, 1});
  const StepResult two = Take(cut, parts);
  EXPECT_NEAR(one.loss, two.loss, 1e-6);
  EXPECT_NEAR(one.grad_norm, two.grad_norm, 1e-5);
  EXPECT_LE(Distance(model_, other), 1e-6);
}

TEST_F(Steps, Lr0AndHardDifferInTheNormAlone) {
  ModuleRates rates = kAll;
  rates["embeddings"] = rates["layer.0"] = 0.0;
  Stepper hard = Make(model_, rates);
  Model other = LoadFixture("models/bert-tok17").model;
  Stepper lr0 =
      Make(other, rates,
           {.mode = FreezeMode::kLr0, .prefix_dropout = PrefixDropout::kHf});
  const StepResult of_hard = Take(hard, {&batch_, 1});
  const StepResult of_lr0 = Take(lr0, {&batch_, 1});
  EXPECT_EQ(of_hard.loss, of_lr0.loss);
  EXPECT_LT(of_hard.grad_norm + 0.1, of_lr0.grad_norm);
}

TEST_F(Steps, WithoutClippingLr0AndHardAreTheSameRun) {
  options_.clip_norm = 0.0;
  ModuleRates rates = kAll;
  rates["embeddings"] = rates["layer.0"] = 0.0;
  Stepper hard = Make(model_, rates);
  Model other = LoadFixture("models/bert-tok17").model;
  Stepper lr0 =
      Make(other, rates,
           {.mode = FreezeMode::kLr0, .prefix_dropout = PrefixDropout::kHf});
  for (int step = 0; step < 3; ++step) {
    Take(hard, {&batch_, 1});
    Take(lr0, {&batch_, 1});
  }
  EXPECT_EQ(Distance(model_, other), 0.0);
}

TEST_F(Steps, AStoredBoundaryGivesTheRunThatComputesIt) {
  ModuleRates rates = kAll;
  rates["embeddings"] = rates["layer.0"] = rates["layer.1"] = 0.0;
  const FreezeSemantics off = {.mode = FreezeMode::kHard,
                               .prefix_dropout = PrefixDropout::kOff};
  Model plain = WithDropout(model_);
  Model cached = WithDropout(model_);
  Stepper computes = Make(plain, rates, off);
  Stepper recalls = Make(cached, rates, off);
  EXPECT_EQ(recalls.plan().frozen_blocks, 3);
  Batch stored = batch_;
  stored.boundary = cached.encoder().Prefix(
      batch_, TrainingPass(recalls.plan()));  // draws no dropout
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(Take(computes, {&batch_, 1}).loss,
              Take(recalls, {&stored, 1}).loss);
  }
  EXPECT_EQ(Distance(plain, cached), 0.0);
}

TEST_F(Steps, AreTheSameForTheSameNoiseAlone) {
  const auto loss_of = [&](std::uint64_t seed) {
    const Batch noisy = Noisy(batch_, seed);
    Model model = WithDropout(model_);
    Stepper stepper = Make(model, kAll);
    return Take(stepper, {&noisy, 1}).loss;
  };
  EXPECT_EQ(loss_of(1), loss_of(1));
  EXPECT_NE(loss_of(1), loss_of(2));
}

// Whatever trains, the same texts lose the same numbers.
TEST_F(Steps, OfAnyDepthSeeTheSameNoise) {
  const auto loss_of = [&](int frozen, FreezeMode mode) {
    ModuleRates rates = kAll;
    rates["embeddings"] = 0.0;
    for (int i = 0; i < frozen; ++i) rates["layer." + std::to_string(i)] = 0.0;
    Model model = WithDropout(model_);
    Stepper stepper = Make(model, rates, {mode, PrefixDropout::kHf});
    return Take(stepper, {&batch_, 1}).loss;
  };
  const double shallow = loss_of(0, FreezeMode::kHard);
  EXPECT_EQ(loss_of(1, FreezeMode::kHard), shallow);
  EXPECT_EQ(loss_of(3, FreezeMode::kHard), shallow);
  EXPECT_EQ(loss_of(3, FreezeMode::kLr0), shallow);
}

TEST_F(Steps, WithoutNoiseAreAFaultWhereSomethingDrops) {
  Model model = WithDropout(model_);
  Stepper stepper = Make(model, kAll);
  batch_.noise = at::Tensor();
  EXPECT_FALSE(stepper.Step({&batch_, 1}).ok());
  Stepper still = Make(model_, kAll);
  EXPECT_TRUE(still.Step({&batch_, 1}).ok());
}

TEST_F(Steps, FrozenAttentionHeadsStayAndDoNotCount) {
  ModuleRates rates = kAll;
  rates["layer.1.head.2"] = 0.0;
  Stepper stepper = Make(model_, rates);
  const Model before = LoadFixture("models/bert-tok17").model;
  const StepResult masked = Take(stepper, {&batch_, 1});
  Model other = LoadFixture("models/bert-tok17").model;
  Stepper full = Make(other, kAll);
  EXPECT_LT(masked.grad_norm, Take(full, {&batch_, 1}).grad_norm);
  for (std::size_t i = 0; i < model_.weights().size(); ++i) {
    const ParameterSpec& spec = model_.weights()[i].spec;
    if (spec.layer != 1 || spec.head_axis == HeadAxis::kNone) continue;
    const std::int64_t axis = spec.head_axis == HeadAxis::kRows ? 0 : 1;
    const at::Tensor moved =
        model_.weights()[i].value.detach() - before.weights()[i].value;
    // Four heads of 8: the third has 16 to 23.
    EXPECT_EQ(moved.narrow(axis, 16, 8).abs().max().item<double>(), 0.0);
    EXPECT_GT(moved.narrow(axis, 24, 8).abs().max().item<double>(), 0.0);
    EXPECT_GT(moved.narrow(axis, 8, 8).abs().max().item<double>(), 0.0);
  }
}

TEST_F(Steps, ReplanningThawsALayerAndKeepsTheMomentsOfTheOthers) {
  ModuleRates rates = kAll;
  rates["embeddings"] = rates["layer.0"] = rates["layer.1"] = 0.0;
  Stepper stepper = Make(model_, rates);
  Take(stepper, {&batch_, 1});
  rates["layer.1"] = 1e-3;
  const Expected<FreezePlan> thawed =
      MakeFreezePlan(model_.config(), model_.head().spec(), rates, {});
  ASSERT_TRUE(stepper.Replan(thawed.value()).ok());
  const at::Tensor before = model_.weights()[21].value.detach().clone();
  ASSERT_EQ(model_.weights()[21].spec.layer, 1);
  Take(stepper, {&batch_, 1});
  EXPECT_FALSE(model_.weights()[21].value.equal(before));
  for (const TrainedTensor& each : stepper.optimizer().tensors()) {
    const bool thaws = each.name.find("layer.1.") != std::string::npos;
    EXPECT_EQ(each.steps, thaws ? 1 : 2) << each.name;
  }
}

TEST_F(Steps, ReplanningWithTheSamePlanChangesNothing) {
  Model other = LoadFixture("models/bert-tok17").model;
  Stepper plain = Make(model_, kAll);
  Stepper replanned = Make(other, kAll);
  for (int step = 0; step < 3; ++step) {
    Take(plain, {&batch_, 1});
    const FreezePlan same = replanned.plan();
    ASSERT_TRUE(replanned.Replan(same).ok());
    Take(replanned, {&batch_, 1});
  }
  EXPECT_EQ(Distance(model_, other), 0.0);
}

TEST_F(Steps, ALossThatIsNotFiniteMovesNothing) {
  Stepper stepper = Make(model_, kAll);
  at::Tensor& bias = model_.weights().back().value;
  {
    const at::NoGradGuard no_graph;
    bias.fill_(std::numeric_limits<float>::quiet_NaN());
  }
  const Model before = WithDropout(model_);
  const StepResult result = Take(stepper, {&batch_, 1});
  EXPECT_FALSE(result.finite);
  EXPECT_TRUE(model_.weights()[0].value.equal(before.weights()[0].value));
}

TEST_F(Steps, WithoutALabelAreAFault) {
  Stepper stepper = Make(model_, kAll);
  batch_.labels = at::zeros_like(batch_.labels) - 100;
  EXPECT_EQ(stepper.Step({&batch_, 1}).fault().kind, FaultKind::kMisuse);
}

TEST_F(Steps, OfAWrongBatchAreAFaultNotACrash) {
  Stepper stepper = Make(model_, kAll);
  batch_.ids = batch_.ids + 1000;
  EXPECT_EQ(stepper.Step({&batch_, 1}).fault().kind, FaultKind::kInconsistent);
  EXPECT_FALSE(stepper.Predict(batch_).ok());
}

TEST_F(Steps, WithImpossibleOptionsAreRefused) {
  const FreezePlan plan =
      MakeFreezePlan(model_.config(), model_.head().spec(), kAll, {}).value();
  options_.clip_norm = -1.0;
  EXPECT_FALSE(Stepper::Make(model_, plan, options_).ok());
  options_.clip_norm = 1.0;
  options_.label_smoothing = 1.0;
  EXPECT_FALSE(Stepper::Make(model_, plan, options_).ok());
}

}  // namespace
}  // namespace frostline::trainer
