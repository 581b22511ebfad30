// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/optimizer.h"

#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {

// One or two steps of a single weight, worked out on paper.

// The real optimizer against gradients that push as far as any can.

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

constexpr double kWithin = 1e-6;

// A weight of 1 with a rate of 0.1 and a decay of 0.5.
TrainedTensor WeightThat(bool decays) {
  TrainedTensor weight;
  weight.value = at::tensor({1.0F});
  weight.value.set_requires_grad(true);
  weight.rate = 0.1;
  weight.decays = decays;
  return weight;
}

Optimizer Make(OptimizerKind kind, const TrainedTensor& weight) {
  OptimizerOptions options;
  options.kind = kind;
  options.weight_decay = 0.5;
  return Optimizer(options, {weight});
}

double StepWith(Optimizer& optimizer, float gradient, double factor = 1.0) {
  const at::Tensor& value = optimizer.tensors()[0].value;
  value.mutable_grad() = at::tensor({gradient});
  optimizer.Step(factor);
  return value[0].item<double>();
}

TEST(AdamW, DecaysTheWeightApartFromItsGradient) {
  Optimizer optimizer = Make(OptimizerKind::kAdamW, WeightThat(true));
  // The first corrected step is the sign of the gradient.
  EXPECT_NEAR(StepWith(optimizer, 4.0F), 1.0 - 0.1 * 0.5 - 0.1, kWithin);
}

TEST(AdamW, LeavesBiasesAndNormsWithoutDecay) {
  Optimizer optimizer = Make(OptimizerKind::kAdamW, WeightThat(false));
  EXPECT_NEAR(StepWith(optimizer, 4.0F), 1.0 - 0.1, kWithin);
}

TEST(AdamW, CorrectsTheMomentsOfTheSecondStep) {
  Optimizer optimizer = Make(OptimizerKind::kAdamW, WeightThat(false));
  StepWith(optimizer, 1.0F);
  // m = 0.9 x 0.1 - 0.2, v = 0.999 x 0.001 + 0.004
  const double first = (0.09 - 0.2) / (1.0 - 0.81);
  const double second = (0.000999 + 0.004) / (1.0 - 0.998001);
  EXPECT_NEAR(StepWith(optimizer, -2.0F),
              0.9 - 0.1 * first / (std::sqrt(second) + 1e-8), kWithin);
}

TEST(AdamW, AFactorOfZeroMovesNothingButTheMoments) {
  Optimizer optimizer = Make(OptimizerKind::kAdamW, WeightThat(true));
  EXPECT_EQ(StepWith(optimizer, 4.0F, 0.0), 1.0);
  EXPECT_NEAR(optimizer.tensors()[0].first[0].item<double>(), 0.4, kWithin);
}

TEST(Adam, AddsTheDecayToTheGradient) {
  Optimizer optimizer = Make(OptimizerKind::kAdam, WeightThat(true));
  // -0.5 + 0.5 x 1 is no gradient at all.
  EXPECT_EQ(StepWith(optimizer, -0.5F), 1.0);
}

TEST(Sgd, GoesDownTheGradient) {
  Optimizer optimizer = Make(OptimizerKind::kSgd, WeightThat(true));
  EXPECT_NEAR(StepWith(optimizer, 2.0F), 1.0 - 0.1 * (2.0 + 0.5), kWithin);
}

// As torch.optim.SGD: the decay is part of what gathers.
TEST(Sgd, GathersMomentum) {
  OptimizerOptions options;
  options.kind = OptimizerKind::kSgd;
  options.weight_decay = 0.5;
  options.momentum = 0.9;
  for (const bool sliced : {false, true}) {
    TrainedTensor weight = WeightThat(true);
    if (sliced) weight.slice_rates = at::tensor({0.1F});
    Optimizer optimizer(options, {weight});
    EXPECT_NEAR(StepWith(optimizer, 2.0F), 1.0 - 0.1 * 2.5, kWithin);
    // m = 0.9 x 2.5 - 1 + 0.5 x 0.75
    EXPECT_NEAR(StepWith(optimizer, -1.0F), 0.75 - 0.1 * 1.625, kWithin);
  }
}

TEST(Optimizer, MovesEachSliceAtItsOwnRate) {
  TrainedTensor weight = WeightThat(false);
  weight.value = at::tensor({1.0F, 1.0F});
  weight.value.set_requires_grad(true);
  weight.slice_rates = at::tensor({0.0F, 0.2F});
  weight.rate = 0.2;  // the fastest
  Optimizer optimizer = Make(OptimizerKind::kAdamW, weight);
  weight.value.mutable_grad() = at::tensor({3.0F, 3.0F});
  optimizer.Step(0.5);
  EXPECT_EQ(weight.value[0].item<double>(), 1.0);
  EXPECT_NEAR(weight.value[1].item<double>(), 0.9, kWithin);
}

class SlicesOf : public testing::TestWithParam<OptimizerKind> {};

TEST_P(SlicesOf, OneRateMoveAsTheWholeTensor) {
  Optimizer whole = Make(GetParam(), WeightThat(true));
  TrainedTensor sliced = WeightThat(true);
  sliced.slice_rates = at::tensor({0.1F});
  Optimizer slices = Make(GetParam(), sliced);
  for (const float gradient : {0.5F, -3.0F, 0.25F}) {
    EXPECT_NEAR(StepWith(whole, gradient), StepWith(slices, gradient), kWithin);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SlicesOf,
                         testing::Values(OptimizerKind::kAdamW,
                                         OptimizerKind::kAdam,
                                         OptimizerKind::kSgd));

TEST(CheckGradients, DividesByWhatTheyAreTooLong) {
  const std::vector<at::Tensor> gradients = {at::tensor({3.0F}),
                                             at::tensor({0.0F, 4.0F})};
  const at::Tensor norm = GlobalNorm(gradients);
  EXPECT_NEAR(norm.item<double>(), 5.0, kWithin);
  const GradientCheck check = CheckGradients(norm, 1.0, norm);
  EXPECT_NEAR(check.divisor.item<double>(), 5.0, 2 * kWithin);
  EXPECT_EQ(check.spoilt.item<double>(), 0.0);
}

TEST(CheckGradients, LeavesShortOnesAndZeroMeansNever) {
  const at::Tensor norm = at::tensor(3.0F);
  EXPECT_EQ(CheckGradients(norm, 3.5, norm).divisor.item<double>(), 1.0);
  EXPECT_FALSE(CheckGradients(norm, 0.0, norm).divisor.defined());
}

TEST(CheckGradients, FindsWhatIsNoNumber) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, std::nanf("")}) {
    const at::Tensor figures = at::tensor({1.0F, bad});
    EXPECT_EQ(
        CheckGradients(at::tensor(1.0F), 1.0, figures).spoilt.item<double>(),
        1.0);
  }
}

// SGD shows it best: Adam would hardly notice.
TEST(Sgd, GoesDownAClippedGradientByLess) {
  for (const bool sliced : {false, true}) {
    TrainedTensor weight = WeightThat(false);
    if (sliced) weight.slice_rates = at::tensor({0.1F});
    Optimizer optimizer = Make(OptimizerKind::kSgd, weight);
    weight.value.mutable_grad() = at::tensor({8.0F});
    optimizer.Step(1.0, {.divisor = at::tensor(4.0F)});
    EXPECT_NEAR(weight.value[0].item<double>(), 1.0 - 0.1 * 2.0, kWithin);
  }
}

TEST(Schedule, LinearWarmsUpFromZeroAndEndsAtZero) {
  const Schedule schedule = {ScheduleKind::kLinear, 2, 10};
  EXPECT_EQ(schedule.FactorAt(0), 0.0);
  EXPECT_EQ(schedule.FactorAt(1), 0.5);
  EXPECT_EQ(schedule.FactorAt(2), 1.0);
  EXPECT_EQ(schedule.FactorAt(6), 0.5);
  EXPECT_EQ(schedule.FactorAt(10), 0.0);
  EXPECT_EQ(schedule.FactorAt(11), 0.0);
}

TEST(Schedule, ConstantStaysUp) {
  const Schedule schedule = {ScheduleKind::kConstant, 4, 10};
  EXPECT_EQ(schedule.FactorAt(1), 0.25);
  EXPECT_EQ(schedule.FactorAt(4), 1.0);
  EXPECT_EQ(schedule.FactorAt(99), 1.0);
}

TEST(Schedule, CosineIsHalfWayDownHalfWayThrough) {
  const Schedule schedule = {ScheduleKind::kCosine, 2, 10};
  EXPECT_EQ(schedule.FactorAt(2), 1.0);
  EXPECT_NEAR(schedule.FactorAt(6), 0.5, 1e-12);
  EXPECT_NEAR(schedule.FactorAt(4), 0.5 * (1.0 + 0.7071067811865476), 1e-12);
  EXPECT_EQ(schedule.FactorAt(10), 0.0);
}

TEST(Schedule, WithoutWarmingUpTheFirstStepHasTheFullRate) {
  const Schedule schedule = {ScheduleKind::kLinear, 0, 4};
  EXPECT_EQ(schedule.FactorAt(0), 1.0);
  EXPECT_EQ(schedule.SumOfFactors(), 1.0 + 0.75 + 0.5 + 0.25);
}

TEST(WarmupSteps, RoundsUp) {
  EXPECT_EQ(WarmupSteps(0.1, 20), 2);
  EXPECT_EQ(WarmupSteps(0.06, 101), 7);
  EXPECT_EQ(WarmupSteps(0.0, 101), 0);
}

// Twenty steps of training as transformers recorded them, four ways of
// freezing for two families: losses, norms and final weights within 1e-4.

constexpr double kTrajectoryWithin = 1e-4;
constexpr double kFactorWithin = 1e-12;

class Trajectory : public testing::TestWithParam<const char*> {
 protected:
  Trajectory()
      : recorded_(
            FixturePath("trajectories/" + std::string(GetParam()) + ".json")),
        batches_(ReadTensors(FixturePath("trajectories/batches.safetensors"))),
        model_(LoadFixture(std::string(recorded_["model"].text)).model),
        start_(LoadFixture(std::string(recorded_["model"].text)).model) {}

  // The recording knows no pooler: its weights belong to the head.
  ModuleRates Rates() const {
    ModuleRates rates;
    std::set<std::string> frozen;
    for (const std::string& each : Texts(recorded_["frozen"])) {
      frozen.insert(each);
    }
    const std::map<std::string, std::string> names = {{"emb", "embeddings"},
                                                      {"l0", "layer.0"},
                                                      {"l1", "layer.1"},
                                                      {"l2", "layer.2"},
                                                      {"head", "head"}};
    for (const auto& [theirs, ours] : names) {
      rates[ours] =
          frozen.contains(theirs) ? 0.0 : recorded_["lr"].Find(theirs)->number;
    }
    return rates;
  }

  // A rate of 0 without freezing is what lr0 means.
  FreezeSemantics Semantics() const {
    const bool lr0 = recorded_["frozen"].count == 0;
    return {.mode = lr0 ? FreezeMode::kLr0 : FreezeMode::kHard,
            .prefix_dropout = PrefixDropout::kHf};
  }

  StepOptions Options() const {
    StepOptions options;
    options.optimizer.weight_decay =
        recorded_["adamw"].Find("weight_decay")->number;
    options.schedule.warmup_steps = *recorded_["warmup_steps"].Index();
    options.schedule.total_steps = *recorded_["total_steps"].Index();
    options.clip_norm = recorded_["clip"].number;
    return options;
  }

  Batch BatchAt(std::int32_t index) const {
    return BatchOf(batches_, "b" + std::to_string(index));
  }

  Stepper Make() {
    const Expected<FreezePlan> plan = MakeFreezePlan(
        model_.config(), model_.head().spec(), Rates(), Semantics());
    EXPECT_TRUE(plan.ok()) << plan.fault().cause;
    return Stepper::Make(model_, plan.value(), Options()).value();
  }

  JsonFixture recorded_;
  Tensors batches_;
  Model model_;
  Model start_;
};

void CompareWeights(const Weight& now, const Weight& before,
                    const JsonValue& recorded) {
  SCOPED_TRACE(now.spec.name);
  const at::Tensor value = now.value.detach().to(at::kDouble).reshape(-1);
  const at::Tensor moved = value - before.value.to(at::kDouble).reshape(-1);
  EXPECT_NEAR(value.sum().item<double>(), recorded.Find("sum")->number,
              kTrajectoryWithin);
  EXPECT_NEAR(value.abs().sum().item<double>(),
              recorded.Find("abs_sum")->number, kTrajectoryWithin);
  EXPECT_NEAR(moved.abs().sum().item<double>(),
              recorded.Find("delta_abs_sum")->number, kTrajectoryWithin);
  std::int64_t i = 0;
  for (const double first : Numbers(*recorded.Find("first4"))) {
    EXPECT_NEAR(value[i++].item<double>(), first, kTrajectoryWithin);
  }
}

TEST_P(Trajectory, LossesNormsAndWeightsAreThoseOfTransformers) {
  Stepper stepper = Make();
  const JsonValue* step = recorded_["steps"].first;
  for (const double index : Numbers(recorded_["order"])) {
    const Batch batch = BatchAt(static_cast<std::int32_t>(index));
    const Expected<StepResult> result = stepper.Step({&batch, 1});
    ASSERT_TRUE(result.ok()) << result.fault().cause;
    SCOPED_TRACE("step " + std::to_string(stepper.steps()));
    EXPECT_NEAR(result.value().loss, step->Find("loss")->number,
                kTrajectoryWithin);
    EXPECT_NEAR(result.value().grad_norm, step->Find("grad_norm")->number,
                kTrajectoryWithin);
    EXPECT_NEAR(result.value().factor, step->Find("lr_factor")->number,
                kFactorWithin);
    step = step->next;
  }
  std::int32_t index = 0;
  for (const double loss : Numbers(recorded_["final_eval_loss"])) {
    EXPECT_NEAR(stepper.Predict(BatchAt(index++)).value().loss, loss,
                kTrajectoryWithin);
  }
  const std::vector<std::string> listed = Texts(recorded_["undetermined"]);
  const std::set<std::string> undetermined(listed.begin(), listed.end());
  for (std::size_t i = 0; i < model_.weights().size(); ++i) {
    const Weight& now = model_.weights()[i];
    if (undetermined.contains(now.spec.name)) continue;
    CompareWeights(now, start_.weights()[i],
                   *recorded_["final_weights"].Find(now.spec.name));
  }
}

TEST_P(Trajectory, WhatIsFrozenDoesNotMoveByABit) {
  Stepper stepper = Make();
  const Batch batch = BatchAt(0);
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE(stepper.Step({&batch, 1}).ok());
  }
  for (std::size_t i = 0; i < model_.weights().size(); ++i) {
    const Weight& now = model_.weights()[i];
    EXPECT_EQ(now.value.equal(start_.weights()[i].value),
              !stepper.plan().parameters[i].trains())
        << now.spec.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, Trajectory,
    testing::Values("bert_a_all_one_lr", "bert_b_per_module_lr",
                    "bert_c_freeze_prefix", "bert_d_freeze_alternating",
                    "distilbert_a_all_one_lr", "distilbert_b_per_module_lr",
                    "distilbert_c_freeze_prefix",
                    "distilbert_d_freeze_alternating"),
    [](const auto& scenario) { return std::string(scenario.param); });

}  // namespace
}  // namespace frostline::trainer
