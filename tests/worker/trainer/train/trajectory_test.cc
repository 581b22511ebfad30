// SPDX-License-Identifier: Apache-2.0
//
// Twenty steps of training as transformers recorded them, four ways of
// freezing for two families: losses, norms and final weights within 1e-4.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {
namespace {

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
