// SPDX-License-Identifier: Apache-2.0
//
// Steps of two tasks on one encoder, whose gradients point against each other.
#include "worker/trainer/train/task_step.h"

#include <ATen/ops/tensor.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {
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

}  // namespace
}  // namespace frostline::trainer
