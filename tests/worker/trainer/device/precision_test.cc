// SPDX-License-Identifier: Apache-2.0
//
// bf16 and fp16 against fp32, on recorded models.
#include "worker/trainer/device/precision.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/layers.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {
namespace {

// Eight bits of mantissa or eleven, a few layers deep.
double Within(Precision precision) {
  return precision == Precision::kBf16 ? 2e-2 : 2.5e-3;
}

ModuleRates Rates(const Model& model, double rate) {
  ModuleRates rates;
  for (const std::string& each :
       ModuleNames(model.config(), model.head().spec())) {
    rates[each] = rate;
  }
  return rates;
}

Stepper Make(Model& model, Precision precision, double rate = 1e-3) {
  StepOptions options;
  options.schedule = {ScheduleKind::kConstant, 0, 100};
  options.precision = precision;
  const FreezePlan plan = MakeFreezePlan(model.config(), model.head().spec(),
                                         Rates(model, rate), {})
                              .value();
  return Stepper::Make(model, plan, options).value();
}

using Case = std::tuple<const char*, Precision>;

class InHalf : public testing::TestWithParam<Case> {
 protected:
  InHalf()
      : half_(std::get<1>(GetParam())),
        folder_("models/" + std::string(std::get<0>(GetParam()))),
        batch_(BatchOf(ReadTensors(FixturePath(folder_ + "/io.safetensors")),
                       "b0")),
        model_(LoadFixture(folder_).model) {}

  Precision half_;
  std::string folder_;
  Batch batch_;
  Model model_;
};

TEST_P(InHalf, LogitsAndLossAreCloseToThoseOfFp32AndNotTheSame) {
  const Prediction exact =
      Make(model_, Precision::kFp32).Predict(batch_).value();
  const Prediction rounded = Make(model_, half_).Predict(batch_).value();
  EXPECT_EQ(rounded.logits.scalar_type(), at::kFloat);
  const double scale = std::max(1.0, exact.logits.abs().max().item<double>());
  const double off = Furthest(exact.logits, rounded.logits);
  EXPECT_LE(off, Within(half_) * scale);
  EXPECT_GT(off, 0.0);
  EXPECT_NEAR(rounded.loss, exact.loss,
              Within(half_) * std::max(1.0, exact.loss));
}

TEST_P(InHalf, TwentyStepsLowerTheLossAndWeightsStayFp32) {
  Stepper stepper = Make(model_, half_);
  const double before = stepper.Predict(batch_).value().loss;
  for (int step = 0; step < 20; ++step) {
    const Expected<StepResult> result = stepper.Step({&batch_, 1});
    ASSERT_TRUE(result.ok()) << result.fault().cause;
    ASSERT_TRUE(result.value().finite);
  }
  EXPECT_LT(stepper.Predict(batch_).value().loss, 0.7 * before);
  for (const TrainedTensor& each : stepper.optimizer().tensors()) {
    EXPECT_EQ(each.value.scalar_type(), at::kFloat) << each.name;
    EXPECT_EQ(each.first.scalar_type(), at::kFloat) << each.name;
  }
}

// The weights of `model` in tensors that nobody has cast before.
Model Copied(const Model& model) {
  std::vector<at::Tensor> values;
  for (const Weight& each : model.weights()) {
    values.push_back(each.value.detach().clone());
  }
  return Model(model.config(), model.head().spec(), values);
}

// A rounded copy of a weight that outlived its step would be of the one before.
TEST_P(InHalf, EachStepSeesTheWeightsOfTheOneBefore) {
  Stepper stepper = Make(model_, half_);
  ASSERT_TRUE(stepper.Step({&batch_, 1}).ok());
  Model fresh = Copied(model_);
  EXPECT_TRUE(stepper.Predict(batch_).value().logits.equal(
      Make(fresh, half_).Predict(batch_).value().logits));
}

// What autocast would cast for each batch is cast once: to the same bits, also
// when a layer has thawed and moved meanwhile.
TEST_P(InHalf, KeptCopiesOfFrozenWeightsAreWhatAutocastMakes) {
  Stepper stepper = Make(model_, half_, 0.0);
  const auto fresh_logits = [&] {
    Model fresh = Copied(model_);
    const at::NoGradGuard no_graph;
    const Autocast autocast(half_, at::kCPU);
    return fresh.Forward(batch_, {}).to(at::kFloat);
  };
  EXPECT_TRUE(stepper.Predict(batch_).value().logits.equal(fresh_logits()));
  const auto plan_of = [&](double rate) {
    return MakeFreezePlan(model_.config(), model_.head().spec(),
                          Rates(model_, rate), {})
        .value();
  };
  ASSERT_TRUE(stepper.Replan(plan_of(1e-2)).ok());
  ASSERT_TRUE(stepper.Step({&batch_, 1}).ok());
  ASSERT_TRUE(stepper.Replan(plan_of(0.0)).ok());
  EXPECT_TRUE(stepper.Predict(batch_).value().logits.equal(fresh_logits()));
}

TEST_P(InHalf, NothingIsLeftSwitchedOnForOthers) {
  Stepper stepper = Make(model_, half_);
  ASSERT_TRUE(stepper.Step({&batch_, 1}).ok());
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  Model exact = LoadFixture(folder_).model;
  Model after = LoadFixture(folder_).model;
  const at::Tensor before =
      Make(exact, Precision::kFp32).Predict(batch_).value().logits;
  Stepper rounds = Make(after, half_);
  ASSERT_TRUE(rounds.Predict(batch_).ok());
  EXPECT_TRUE(before.equal(
      Make(after, Precision::kFp32).Predict(batch_).value().logits));
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, InHalf,
    testing::Combine(testing::Values("bert-seq2", "distilbert-tok17",
                                     "roberta-reg", "modernbert-tok17",
                                     "deberta-tok17"),
                     testing::Values(Precision::kBf16, Precision::kFp16)),
    [](const auto& each) {
      std::string name = std::string(std::get<0>(each.param)) + "_in_" +
                         std::string(NameOf(std::get<1>(each.param)));
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

// 1/0.9 rounded to bf16 would make everything 0.16 % too small.
TEST(DropoutInBf16, ScalesWithoutABias) {
  Batch batch;
  batch.noise = at::zeros({1}, at::kLong);
  const at::Tensor ones = at::ones({1, 1 << 14}, at::kBFloat16);
  const at::Tensor kept = Dropout(ones * 1.8, 0.1, batch, {});
  const double largest = kept.to(at::kFloat).max().item<double>();
  EXPECT_EQ(largest, 2.0);  // of 1.8 and 1.8125 in bf16; 1.109 gives 1.99
}

}  // namespace
}  // namespace frostline::trainer
