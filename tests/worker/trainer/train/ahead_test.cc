// SPDX-License-Identifier: Apache-2.0
//
// Steps as a GPU takes them, taken here: nothing waits before the optimiser,
// and figures come a step late.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/worker/trainer/fixtures.h"
#include "tests/worker/trainer/operator_log.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {
namespace {

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

}  // namespace
}  // namespace frostline::trainer
