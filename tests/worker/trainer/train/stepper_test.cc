// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/stepper.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"
#include "tests/worker/trainer/operator_log.h"
#include "worker/trainer/train/smart.h"

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

TEST_F(Steps, AccumulationWeighsEachLabelAsItsClass) {
  options_.optimizer.kind = OptimizerKind::kSgd;
  Stepper plain = Make(model_, kAll);
  const double unweighted = Take(plain, {&batch_, 1}).loss;
  for (int i = 1; i <= 17; ++i) options_.class_weights.push_back(i * i);
  Model one = LoadFixture("models/bert-tok17").model;
  Model two = LoadFixture("models/bert-tok17").model;
  Stepper whole = Make(one, kAll);
  Stepper cut = Make(two, kAll);
  const std::array<Batch, 2> parts = {Rows(batch_, 0, 1), Rows(batch_, 1, 3)};
  const double loss = Take(whole, {&batch_, 1}).loss;
  EXPECT_GT(std::abs(loss - unweighted), 1e-3);
  EXPECT_NEAR(loss, Take(cut, parts).loss, 1e-6);
  EXPECT_LE(Distance(one, two), 1e-6);
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

// Steps of two tasks on one encoder, whose gradients point against each other.

namespace {

const ModuleRates kAllTasks = {{"embeddings", 1.0}, {"layer.0", 1.0},
                               {"layer.1", 1.0},    {"layer.2", 1.0},
                               {"pooler", 1.0},     {"head", 1.0}};

// Two heads with the same weights, which ask opposite labels of one text; one
// of them has another text besides.
class TwoTasks : public testing::Test {
 protected:
  TwoTasks()
      : batch_(Noisy(
            BatchOf(ReadTensors(FixturePath("models/bert-seq2/io.safetensors")),
                    "b0"),
            1)) {
    options_.optimizer.kind = OptimizerKind::kSgd;
    options_.schedule = {ScheduleKind::kConstant, 0, 10};
    options_.clip_norm = 0.0;
    options_.tasks = {{.loss_weight = 1.0}, {.loss_weight = 0.6}};
    batch_ = Rows(batch_, {0});
    other_ = Rows(
        Noisy(
            BatchOf(ReadTensors(FixturePath("models/bert-seq2/io.safetensors")),
                    "b0"),
            1),
        {0, 0, 1});
    other_.task = 1;
    other_.labels = 1 - other_.labels;
  }

  static Batch Rows(const Batch& batch, const std::vector<std::int64_t>& rows) {
    const at::Tensor index = at::tensor(rows, at::kLong);
    const auto some = [&](const at::Tensor& x) {
      return x.defined() ? x.index_select(0, index) : x;
    };
    Batch chosen;
    chosen.ids = some(batch.ids);
    chosen.mask = some(batch.mask);
    chosen.types = some(batch.types);
    chosen.labels = some(batch.labels);
    chosen.noise = some(batch.noise);
    chosen.lengths = some(batch.lengths);
    return chosen;
  }

  static Model Fresh() {
    const LoadedModel loaded = LoadFixture("models/bert-seq2");
    HeadSpec a = loaded.model.head().spec(), b = a;
    a.name = "a";
    b.name = "b";
    const Heads heads({a, b});
    std::map<std::string, at::Tensor> values;
    for (const Weight& each : loaded.model.weights()) {
      values[each.spec.name] = each.value.detach();
    }
    std::vector<at::Tensor> copies;
    for (const ParameterSpec& spec :
         ParametersOf(loaded.model.config(), heads)) {
      const std::string name =
          spec.task.empty() ? spec.name : spec.name.substr(8);  // "heads.a."
      copies.push_back(values.at(name).clone());
    }
    return Model(loaded.model.config(), heads, copies);
  }

  // What a step moves, of everything but heads, as one vector.
  at::Tensor Moved(std::vector<Batch> parts, StepResult* told = nullptr) const {
    Model model = Fresh();
    const Model before = Fresh();
    const auto plan =
        MakeFreezePlan(model.config(), model.heads(), kAllTasks, {});
    Stepper stepper = Stepper::Make(model, plan.value(), options_).value();
    const Expected<StepResult> result = stepper.Step(parts);
    EXPECT_TRUE(result.ok()) << result.fault().cause;
    if (told != nullptr) *told = result.value();
    std::vector<at::Tensor> all;
    for (std::size_t i = 0; i < model.weights().size(); ++i) {
      if (model.weights()[i].spec.part == Part::kHead) continue;
      all.push_back((before.weights()[i].value - model.weights()[i].value)
                        .detach()
                        .flatten());
    }
    return at::cat(all).to(at::kDouble);
  }

  static double Dot(const at::Tensor& a, const at::Tensor& b) {
    return (a * b).sum().item<double>();
  }

  Batch batch_, other_;
  StepOptions options_;
};

TEST_F(TwoTasks, WithSurgeryNothingIsLeftOfTheConflict) {
  // In a step of both one has a quarter of the examples.
  const at::Tensor first = Moved({batch_}) / 4;
  const at::Tensor second = Moved({other_}) * 3 / 4;
  ASSERT_LT(Dot(first, second), 0.0);
  EXPECT_LT(Furthest(Moved({batch_, other_}), first + second), 1e-6);

  const bool first_is_longer = Dot(first, first) > Dot(second, second);
  const at::Tensor& star = first_is_longer ? first : second;
  const at::Tensor& rest = first_is_longer ? second : first;
  const at::Tensor yields = rest - Dot(rest, star) / Dot(star, star) * star;

  options_.surgery = Surgery::kDominant;
  StepResult told;
  const at::Tensor moved = Moved({batch_, other_}, &told);
  EXPECT_TRUE(told.conflict);
  EXPECT_LT(Furthest(moved, star + yields), 1e-6);
  EXPECT_NEAR(Dot(moved - star, star), 0.0, 1e-6 * Dot(star, star));

  options_.surgery = Surgery::kPcGrad;
  const at::Tensor other = star - Dot(rest, star) / Dot(rest, rest) * rest;
  EXPECT_LT(Furthest(Moved({batch_, other_}), other + yields), 1e-6);
}

TEST_F(TwoTasks, AlikeTheGradientsOfTheirMeansAreSummed) {
  const at::Tensor first = Moved({batch_}), second = Moved({other_});
  options_.tasks_alike = true;
  EXPECT_LT(Furthest(Moved({batch_}), first), 1e-6);
  EXPECT_LT(Furthest(Moved({batch_, other_}), first + second), 1e-6);
}

TEST_F(TwoTasks, WhatAgreesIsLeftAlone) {
  other_ = batch_;
  other_.task = 1;
  const at::Tensor plain = Moved({batch_, other_});
  options_.surgery = Surgery::kPcGrad;
  StepResult told;
  EXPECT_LT(Furthest(Moved({batch_, other_}, &told), plain), 1e-6);
  EXPECT_FALSE(told.conflict);
}

TEST_F(TwoTasks, ABatchMovesOnlyWhatItsTaskTrains) {
  options_.tasks[1].frozen = {"embeddings", "layer.0", "layer.1.ffn"};
  Model model = Fresh();
  const Model before = Fresh();
  const auto plan =
      MakeFreezePlan(model.config(), model.heads(), kAllTasks, {});
  Stepper stepper = Stepper::Make(model, plan.value(), options_).value();
  ASSERT_TRUE(stepper.Step(std::vector<Batch>{other_}).ok());
  for (std::size_t i = 0; i < model.weights().size(); ++i) {
    const Weight& each = model.weights()[i];
    const bool moved = !each.value.equal(before.weights()[i].value);
    const bool frozen = std::ranges::any_of(
        options_.tasks[1].frozen,
        [&](const std::string& module) { return IsWithin(each.spec, module); });
    if (frozen || each.spec.task == "a") {
      EXPECT_FALSE(moved) << each.spec.name;
    }
    if (each.spec.name == "heads.b.classifier.weight") {
      EXPECT_TRUE(moved);
    }
    EXPECT_TRUE(each.value.requires_grad());  // as before, for others
  }
}

TEST(SharesOfParts, ExamplesOfAllTasksWeighTheSame) {
  std::vector<Batch> parts(3);
  parts[0].labels = at::zeros({6}, at::kLong);
  parts[1].labels = at::zeros({1, 9}, at::kLong);  // words
  parts[2].labels = at::zeros({1, 3}, at::kLong);
  parts[1].task = parts[2].task = 1;
  EXPECT_THAT(SharesOfParts(parts, {6, 9, 3}, {{1.0}, {2.0}}),
              testing::ElementsAre(testing::DoubleEq(0.75),
                                   testing::DoubleEq(2 * 0.25 * 0.75),
                                   testing::DoubleEq(2 * 0.25 * 0.25)));
  // Or each task as it would alone: its labels' mean.
  EXPECT_THAT(
      SharesOfParts(parts, {6, 9, 3}, {{1.0}, {2.0}}, true),
      testing::ElementsAre(testing::DoubleEq(1.0), testing::DoubleEq(2 * 0.75),
                           testing::DoubleEq(2 * 0.25)));
}

// Steps as a GPU takes them, taken here: nothing waits before the optimiser,
// and figures come a step late.

constexpr char kModel[] = "models/bert-tok17";
constexpr Kernels kLate = {.late_figures = true};

class StepsAhead : public testing::TestWithParam<OptimizerKind> {
 protected:
  StepsAhead()
      : model_(LoadFixture(kModel).model),
        batch_(BatchOf(
            ReadTensors(FixturePath(std::string(kModel) + "/io.safetensors")),
            "b0")) {}

  Stepper Make(Model& model, const Kernels& kernels,
               double of_a_head = 1e-3) const {
    StepOptions options;
    options.schedule = {ScheduleKind::kConstant, 0, 10};
    options.optimizer.kind = GetParam();
    options.clip_norm = 0.5;
    options.kernels = kernels;
    const ModuleRates rates = {
        {"embeddings", 1e-3}, {"layer.0", 1e-3}, {"layer.1", 1e-3},
        {"layer.2", 1e-3},    {"head", 1e-3},    {"layer.1.head.2", of_a_head}};
    const FreezePlan plan =
        MakeFreezePlan(model.config(), model.head().spec(), rates, {}).value();
    return Stepper::Make(model, plan, options).value();
  }

  // Biases of keys have no gradient but rounding, which Adam makes a step of.
  static double Distance(const Model& a, const Model& b,
                         bool key_biases = true) {
    double furthest = 0.0;
    for (std::size_t i = 0; i < a.weights().size(); ++i) {
      const bool of_key = a.weights()[i].spec.name.ends_with("key.bias");
      if (of_key && !key_biases) continue;
      furthest = std::max(furthest, Furthest(a.weights()[i].value.detach(),
                                             b.weights()[i].value.detach()));
    }
    return furthest;
  }

  Model model_;
  Batch batch_;
};

// "item" is what a GPU would have to be waited for.
TEST_P(StepsAhead, NothingIsReadBeforeTheWeightsMove) {
  Stepper stepper = Make(model_, kLate, 1e-4);
  ASSERT_TRUE(stepper.StepAhead({&batch_, 1}).ok());
  const OperatorLog log;
  ASSERT_TRUE(stepper.StepAhead({&batch_, 1}).ok());
  const std::string moves =
      GetParam() == OptimizerKind::kAdamW
          ? "aten::_fused_adamw_"
          : (GetParam() == OptimizerKind::kAdam ? "aten::_fused_adam_"
                                                : "aten::_fused_sgd_");
  EXPECT_GT(log.Count(moves), 0);
  // Reads of ids and labels, which are in main memory, all come before the
  // model begins.
  EXPECT_EQ(log.CountBefore(moves, "aten::_local_scalar_dense"),
            log.CountBefore("aten::embedding", "aten::_local_scalar_dense"));
}

TEST_P(StepsAhead, FiguresAreTheSameAStepLate) {
  Model other = LoadFixture(kModel).model;
  Stepper at_once = Make(model_, {});
  Stepper late = Make(other, kLate);
  std::vector<StepResult> expected;
  std::vector<StepResult> seen;
  for (int i = 0; i < 4; ++i) {
    expected.push_back(at_once.StepAhead({&batch_, 1}).value().value());
    const auto before = late.StepAhead({&batch_, 1}).value();
    ASSERT_EQ(before.has_value(), i > 0);
    if (before) seen.push_back(*before);
  }
  seen.push_back(late.ReadLast().value().value());
  EXPECT_FALSE(late.ReadLast().value().has_value());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(seen[i].loss, expected[i].loss);
    EXPECT_EQ(seen[i].grad_norm, expected[i].grad_norm);
    EXPECT_EQ(seen[i].step, static_cast<std::int64_t>(i) + 1);
  }
  EXPECT_EQ(Distance(model_, other), 0.0);
}

// Single attention heads have rates of their own, so that slices move too.
TEST_P(StepsAhead, ASpoiltStepMovesNothingThoughNobodyHasLooked) {
  Stepper stepper = Make(model_, kLate, 1e-4);
  ASSERT_TRUE(stepper.Step({&batch_, 1}).ok());
  at::Tensor& bias = model_.weights().back().value;
  {
    const at::NoGradGuard no_graph;
    bias.fill_(std::numeric_limits<float>::infinity());
  }
  std::vector<at::Tensor> before;
  for (const TrainedTensor& each : stepper.optimizer().tensors()) {
    before.push_back(each.value.detach().clone());
    if (each.first.defined()) before.push_back(each.first.clone());
  }
  ASSERT_TRUE(stepper.StepAhead({&batch_, 1}).ok());
  std::size_t i = 0;
  for (const TrainedTensor& each : stepper.optimizer().tensors()) {
    EXPECT_TRUE(each.value.equal(before[i++])) << each.name;
    if (!each.first.defined()) continue;  // of SGD
    EXPECT_TRUE(each.first.equal(before[i++])) << each.name;
  }
  EXPECT_FALSE(stepper.ReadLast().value()->finite);
}

TEST_P(StepsAhead, AllThatAGpuIsGivenEndsInTheSameWeights) {
  Model other = LoadFixture(kModel).model;
  Stepper plain = Make(model_, {});
  Stepper as_gpu =
      Make(other, {.one_product = true, .pad_to = 8, .late_figures = true});
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(plain.Step({&batch_, 1}).ok());
    ASSERT_TRUE(as_gpu.StepAhead({&batch_, 1}).ok());
  }
  EXPECT_LE(Distance(model_, other, false), 1e-4);
  const at::Tensor expected = plain.Predict(batch_).value().logits;
  EXPECT_LE(Furthest(as_gpu.Predict(batch_).value().logits, expected), 1e-3);
}

// Heads with rates of their own are slices: the products of a step stay what
// they are, query, key and value together, and each tensor that is cut costs a
// copy and one pass more.
TEST_P(StepsAhead, HeadsAsModulesSplitNoProductAndNoFusedStep) {
  const Kernels as_gpu = {.one_product = true};
  struct Counts {
    std::int64_t products, fused, cut;
  };
  const auto count = [&](double head_rate) {
    Model model = LoadFixture(kModel).model;
    Stepper stepper = Make(model, as_gpu, head_rate);
    const OperatorLog log;
    EXPECT_TRUE(stepper.Step({&batch_, 1}).ok());
    return Counts{
        log.Count("aten::addmm") + log.Count("aten::mm") +
            log.Count("aten::bmm"),
        log.Count("aten::_fused_adam") + log.Count("aten::_fused_sgd"),
        log.Count("aten::lerp")};
  };
  const Counts whole = count(1e-3);  // as their layer
  const Counts cut = count(1e-4);
  EXPECT_EQ(cut.products, whole.products);
  EXPECT_EQ(cut.fused, whole.fused);
  EXPECT_EQ(whole.cut, 0);
  // Query, key and value with their biases, and the output's columns.
  EXPECT_EQ(cut.cut, 7);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StepsAhead,
                         testing::Values(OptimizerKind::kAdamW,
                                         OptimizerKind::kAdam,
                                         OptimizerKind::kSgd));

// The cosine of two equal texts stays 1 when both are moved in the same way,
// and not when one of them stands still.
TEST(Smart, BothTextsOfAPairMayBeMovedTogether) {
  const Model bert = LoadFixture("models/bert-seq2").model;
  const HeadSpec cosine = {
      .task = Task::kRegression, .outputs = 1, .kind = HeadKind::kCosine};
  std::map<std::string, at::Tensor> known;
  for (const Weight& each : bert.weights()) {
    known[each.spec.name] = each.value.detach();
  }
  std::vector<at::Tensor> values;
  for (const ParameterSpec& spec : ParametersOf(bert.config(), cosine)) {
    const auto found = known.find(spec.name);
    const bool map = spec.shape.size() == 2;
    values.push_back(found != known.end() ? found->second
                     : map                ? at::eye(spec.shape.front())
                                          : at::zeros(spec.shape));
  }
  const Model model(bert.config(), cosine, values);
  Batch pair;
  pair.ids = at::arange(5, 13, at::kLong).unsqueeze(0).repeat({2, 1});
  pair.mask = at::ones({2, 8}, at::kLong);
  pair.labels = at::ones({1}, at::kFloat);

  SmartOptions options;
  options.weight = 1.0;
  options.steps = 0;
  options.begin = [](const at::Tensor& x, const Batch&) {
    return at::arange(x.size(1) * x.size(2), at::kFloat)
        .sin()
        .reshape({1, x.size(1), x.size(2)})
        .repeat({2, 1, 1});
  };
  const auto added = [&] {
    return Smart(options).TermsOf(model, pair, {}).added.item<double>();
  };
  EXPECT_GT(added(), 0.01);
  options.pairs_together = true;
  EXPECT_LT(added(), 1e-8);
}

}  // namespace
}  // namespace frostline::trainer
