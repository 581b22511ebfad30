// SPDX-License-Identifier: Apache-2.0
//
// What a step is counted to cost, held against what LibTorch multiplied in it:
// equal to the last operation. Attention drops, so that its products are
// LibTorch's; where nothing drops it is one kernel, and what that multiplies
// twice is left out.
#ifndef NDEBUG
// As LibTorch is compiled: how it lays out a RecordFunction depends on it.
#define NDEBUG
#endif

#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/worker/trainer/freeze/counted_cases.h"
#include "tests/worker/trainer/freeze/product_log.h"
#include "worker/trainer/train/smart.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {
namespace {

constexpr std::int64_t kTexts = 4;
constexpr std::int64_t kTokens = 10;

FreezePlan PlanOf(const CountedCase& of) {
  ModuleRates rates = {
      {"embeddings", of.embeddings}, {"pooler", 1e-4}, {"head", 1e-4}};
  for (std::int64_t i = 0; i < of.config.layers; ++i) {
    rates["layer." + std::to_string(i)] = of.frozen.contains(i) ? 0.0 : 1e-4;
  }
  return MakeFreezePlan(of.config, of.head, rates, of.semantics).value();
}

Model Draw(const ModelConfig& config, const HeadSpec& head) {
  at::set_num_threads(1);
  at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(7U);
  std::vector<at::Tensor> values;
  for (const ParameterSpec& spec : ParametersOf(config, head)) {
    values.push_back(DrawWeight(spec, config, chance));
  }
  return Model(config, head, values);
}

Batch DrawBatch(const HeadSpec& head) {
  const at::TensorOptions whole(at::kLong);
  Batch batch;
  batch.ids = at::randint(1, 30, {kTexts, kTokens}, whole);
  batch.mask = at::ones({kTexts, kTokens}, whole);
  batch.noise = at::arange(kTexts, whole);
  batch.lengths = at::full({kTexts}, kTokens, whole);
  const std::int64_t answers = head.apart() ? kTexts / 2 : kTexts;
  if (head.task == Task::kRegression) {
    batch.labels = at::rand({answers});
  } else if (head.task == Task::kTokens) {
    batch.labels = at::randint(0, head.outputs, {kTexts, kTokens}, whole);
  } else {
    batch.labels = at::randint(0, head.outputs, {answers}, whole);
  }
  return batch;
}

double Counted(const CountedCase& of, const FreezePlan& plan) {
  const StepFlops step = CountFlops(of.config, of.head, plan, kTexts, kTokens);
  const SmartFlops smart = CountSmart(
      of.smart, of.config, of.head, plan.frozen_blocks, step, kTexts, kTokens);
  double spent = step.spent() + smart.spent;
  if (!of.stored) return spent;
  for (std::int64_t i = 0; i < plan.frozen_blocks; ++i) {
    spent -= step.modules[static_cast<std::size_t>(i)].forward;
  }
  return spent - smart.prefix;
}

double Multiplied(const CountedCase& of, const FreezePlan& plan) {
  Model model = Draw(of.config, of.head);
  StepOptions options;
  options.schedule = {ScheduleKind::kConstant, 0, 10};
  options.smart = of.smart;
  Stepper stepper = Stepper::Make(model, plan, options).value();
  Batch batch = DrawBatch(of.head);
  if (of.stored) {
    batch.boundary = model.encoder().Prefix(batch, TrainingPass(plan));
  }
  const ProductLog log;
  const Expected<StepResult> step = stepper.Step({&batch, 1});
  EXPECT_TRUE(step.ok()) << step.fault().cause;
  return log.flops();
}

class CountedProducts : public testing::TestWithParam<CountedCase> {};

TEST_P(CountedProducts, AreThoseThatWereMultiplied) {
  const FreezePlan plan = PlanOf(GetParam());
  const double multiplied = Multiplied(GetParam(), plan);
  EXPECT_GT(multiplied, 0.0);
  EXPECT_DOUBLE_EQ(Counted(GetParam(), plan), multiplied);
}

std::string NameOfCase(const testing::TestParamInfo<CountedCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Families, CountedProducts,
                         testing::ValuesIn(CasesOfFamilies()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Settings, CountedProducts,
                         testing::ValuesIn(CasesOfSettings()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Smart, CountedProducts,
                         testing::ValuesIn(CasesOfSmart()), NameOfCase);

// Where nothing drops, of a step that needs all gradients.
TEST(CountedKernel, AttentionIsGivenWhatIsCounted) {
  ModelConfig config = TinyConfig(Family::kBert);
  config.attention_dropout = 0.0;
  const CountedCase all = {"Kernel", config};
  const FreezePlan plan = PlanOf(all);
  EXPECT_DOUBLE_EQ(Counted(all, plan), Multiplied(all, plan));
}

}  // namespace
}  // namespace frostline::trainer
