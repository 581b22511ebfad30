// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/audit.h"

#include <ATen/ops/arange.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/freeze/apply_plan.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SumOfBits, OneBitAnywhereGivesAnotherSum) {
  const at::Tensor tensor = at::arange(97, at::kFloat);
  const std::uint64_t sum = SumOfBits(tensor);
  EXPECT_EQ(SumOfBits(tensor.clone()), sum);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const at::Tensor other = tensor.clone();
    other.view(at::kInt)[i] += 1;
    EXPECT_NE(SumOfBits(other), sum) << i;
  }
  const at::Tensor swapped = tensor.clone();
  swapped[3] = 7.0;
  swapped[7] = 3.0;
  EXPECT_NE(SumOfBits(swapped), sum);
}

constexpr char kFixture[] = "models/bert-tok17";

// A BERT of three layers that takes five steps, held against itself before.
class Audits : public testing::Test {
 protected:
  Audits()
      : before_(LoadFixture(kFixture).model),
        model_(LoadFixture(kFixture).model),
        batch_(Noisy(BatchOf(ReadTensors(FixturePath(std::string(kFixture) +
                                                     "/io.safetensors")),
                             "b0"),
                     1)) {
    options_.schedule = {ScheduleKind::kConstant, 0, 10};
  }

  static FreezePlan PlanOf(const Model& model, const ModuleRates& rates) {
    return MakeFreezePlan(model.config(), model.head().spec(), rates, {})
        .value();
  }

  static ModuleRates Rates(const ModuleRates& others) {
    ModuleRates rates = {{"embeddings", 1e-3}, {"layer.0", 1e-3},
                         {"layer.1", 1e-3},    {"layer.2", 1e-3},
                         {"pooler", 1e-3},     {"head", 1e-2}};
    for (const auto& [name, rate] : others) rates[name] = rate;
    return rates;
  }

  // Trains by `trained`, and audits whether it was by `promised`.
  FreezeAudit Audit(Model& model, const ModuleRates& trained,
                    const ModuleRates& promised) {
    const FreezePlan plan = PlanOf(model, promised);
    std::vector<bool> trains;
    for (const ParameterPlan& each : plan.parameters) {
      trains.push_back(each.trains());
    }
    const FreezeAuditor auditor(model, trains);
    Stepper stepper =
        Stepper::Make(model, PlanOf(model, trained), options_).value();
    for (int i = 0; i < 5; ++i) {
      const Expected<StepResult> taken = stepper.Step({&batch_, 1});
      EXPECT_TRUE(taken.ok()) << taken.fault().cause;
    }
    meddle_(model);
    std::vector<std::int64_t> activations =
        MeasureActivations(stepper, batch_).value();
    return auditor.Audit({.stepper = stepper,
                          .before = before_,
                          .rates = promised,
                          .plan = plan,
                          .activations = std::move(activations)});
  }
  FreezeAudit Audit(const ModuleRates& rates) {
    return Audit(model_, rates, rates);
  }

  static const ModuleAudit& RowOf(const FreezeAudit& audit,
                                  const std::string& module) {
    const auto found =
        std::ranges::find(audit.modules, module, &ModuleAudit::module);
    EXPECT_NE(found, audit.modules.end()) << module;
    return found == audit.modules.end() ? audit.modules.front() : *found;
  }

  static at::Tensor Named(const Model& model, const std::string& end) {
    for (const Weight& each : model.weights()) {
      if (each.spec.name.ends_with(end)) return each.value.detach();
    }
    ADD_FAILURE() << end;
    return {};
  }

  Model before_;
  Model model_;
  Batch batch_;
  StepOptions options_;
  std::function<void(Model&)> meddle_ = [](Model&) {};
};

TEST_F(Audits, SaysOfEachModuleHowFarItMoved) {
  const FreezeAudit audit = Audit(Rates({{"layer.1", 0.0}}));
  EXPECT_THAT(audit.wrong, IsEmpty());
  EXPECT_THAT(audit.odd, IsEmpty());
  std::int64_t weights = 0;
  std::vector<std::string> names;
  for (const ModuleAudit& row : audit.modules) {
    weights += row.weights;
    names.push_back(row.module);
    EXPECT_EQ(row.weight_bytes, 4 * row.weights) << row.module;
    const bool frozen = row.module == "layer.1";
    EXPECT_EQ(row.had_gradient, !frozen) << row.module;
    EXPECT_EQ(row.gradient_bytes, frozen ? 0 : row.weight_bytes) << row.module;
    EXPECT_EQ(row.moment_bytes, frozen ? 0 : 2 * row.weight_bytes);
    if (frozen) {
      EXPECT_EQ(row.moved, 0.0);
      EXPECT_EQ(row.could_move, 0.0);
      continue;
    }
    EXPECT_GT(row.moved, 0.0) << row.module;
    EXPECT_LT(row.moved, row.could_move) << row.module;
    // Adam moves nearly as far as it can when gradients are alike.
    EXPECT_GT(row.moved, row.could_move / 50.0) << row.module;
  }
  EXPECT_THAT(names, ElementsAre("embeddings", "layer.0", "layer.1", "layer.2",
                                 "head"));
  std::int64_t all = 0;
  double change = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < model_.weights().size(); ++i) {
    const Weight& now = model_.weights()[i];
    all += now.value.numel();
    if (ModuleOf(now.spec) != "head") continue;
    const at::Tensor was = before_.weights()[i].value.detach();
    change += (now.value.detach() - was).pow(2).sum().item<double>();
    size += was.pow(2).sum().item<double>();
  }
  EXPECT_EQ(weights, all);
  EXPECT_NEAR(RowOf(audit, "head").moved, std::sqrt(change / size), 1e-6);
}

TEST_F(Audits, AFrozenLayerThatTheOptimizerMovesIsNamed) {
  const FreezeAudit audit =
      Audit(model_, Rates({}), Rates({{"layer.0", 0.0}, {"layer.1", 0.0}}));
  EXPECT_THAT(audit.wrong, ElementsAre("layer.0 is frozen and moved",
                                       "layer.1 is frozen and moved"));
  EXPECT_GT(RowOf(audit, "layer.1").moved, 0.0);
}

// Frozen weights are shared with the pretrained model, which then moves too.
TEST_F(Audits, OneBitOfASharedFrozenWeightIsSeen) {
  before_ = model_;
  meddle_ = [](Model& model) {
    Named(model, "layer.2.output.dense.bias").view(at::kInt)[0] += 1;
  };
  const FreezeAudit audit = Audit(Rates({{"embeddings", 0.0},
                                         {"layer.0", 0.0},
                                         {"layer.1", 0.0},
                                         {"layer.2", 0.0}}));
  EXPECT_THAT(audit.wrong, ElementsAre("layer.2 is frozen and moved"));
}

TEST_F(Audits, WhatDoesNotMoveIsOddAndSaysWhy) {
  options_.tasks = {{1.0, {"layer.2"}}};  // whose batches do not train it
  const FreezeAudit audit = Audit(Rates({{"layer.1", 1e-30}}));
  EXPECT_THAT(audit.wrong, IsEmpty());
  EXPECT_THAT(
      audit.odd,
      ElementsAre("layer.1 should have moved at rate 1e-30 and did not: it had "
                  "gradients",
                  "layer.2 should have moved at rate 0.001 and did not: it "
                  "never had a gradient"));
  EXPECT_FALSE(RowOf(audit, "layer.2").had_gradient);
}

TEST_F(Audits, BiasesThatTrainAloneAreNoReasonForTheRestToMove) {
  const ModuleRates rates = Rates({});
  FreezeSemantics semantics;
  semantics.tuned = Tuned::kBiases;
  const FreezePlan plan =
      MakeFreezePlan(model_.config(), model_.head().spec(), rates, semantics)
          .value();
  std::vector<bool> trains;
  for (const ParameterPlan& each : plan.parameters) {
    trains.push_back(each.trains());
  }
  const FreezeAuditor auditor(model_, trains);
  Stepper stepper = Stepper::Make(model_, plan, options_).value();
  ASSERT_TRUE(stepper.Step({&batch_, 1}).ok());
  const AuditedTraining training = {
      .stepper = stepper, .before = before_, .rates = rates, .plan = plan};
  EXPECT_THAT(auditor.Audit(training).wrong, IsEmpty());
  Named(model_, "layer.1.output.dense.weight")[0][0] += 1.0;
  EXPECT_THAT(auditor.Audit(training).wrong,
              ElementsAre("weights of layer.1 that do not train moved"));
}

TEST_F(Audits, SingleHeadsHaveRowsOfTheirOwn) {
  const ModuleRates rates = Rates({{"layer.1.head.0", 0.0}});
  EXPECT_THAT(Audit(rates).wrong, IsEmpty());
  model_ = LoadFixture(kFixture).model;
  meddle_ = [](Model& model) {
    Named(model, "layer.1.attention.output.dense.weight")[5][0] += 1.0;
  };
  const FreezeAudit audit = Audit(rates);
  EXPECT_THAT(audit.wrong, ElementsAre("layer.1.head.0 is frozen and moved"));
  EXPECT_EQ(RowOf(audit, "layer.1.head.1").rate, 1e-3);
  EXPECT_GT(RowOf(audit, "layer.1.head.1").moved, 0.0);
}

TEST_F(Audits, ATiedWeightCountsOnceAndIsNamed) {
  const auto tied = [&] {
    std::vector<at::Tensor> values;
    at::Tensor first;
    const Model fresh = LoadFixture(kFixture).model;
    for (const Weight& each : fresh.weights()) {
      values.push_back(each.value.detach());
      const bool query =
          each.spec.name.ends_with("attention.self.query.weight");
      if (query && each.spec.layer == 0) first = values.back();
      if (query && each.spec.layer == 1) values.back() = first;
    }
    return Model(model_.config(), model_.head().spec(), values);
  };
  before_ = tied();
  Model model = tied();
  FreezeAudit audit = Audit(model, Rates({}), Rates({}));
  EXPECT_THAT(audit.wrong, IsEmpty());
  const std::int64_t shared =
      Named(model, "layer.0.attention.self.query.weight").numel();
  EXPECT_EQ(RowOf(audit, "layer.0").weights,
            RowOf(audit, "layer.1").weights + shared);
  model = tied();
  audit = Audit(model, Rates({{"layer.0", 0.0}}), Rates({{"layer.0", 0.0}}));
  ASSERT_EQ(audit.wrong.size(), 1U);
  EXPECT_THAT(audit.wrong[0], HasSubstr("layer.0 is frozen and moved: "));
  EXPECT_THAT(audit.wrong[0],
              HasSubstr("layer.1.attention.self.query.weight, which trains, is "
                        "tied to it"));
}

TEST_F(Audits, ActivationsAreOfWhatTrainsAndAboveIt) {
  const FreezeAudit whole = Audit(Rates({}));
  for (const ModuleAudit& row : whole.modules) {
    EXPECT_GT(row.activation_bytes, 0) << row.module;
  }
  model_ = LoadFixture(kFixture).model;
  const FreezeAudit frozen =
      Audit(Rates({{"embeddings", 0.0}, {"layer.0", 0.0}}));
  EXPECT_EQ(RowOf(frozen, "layer.0").activation_bytes, 0);
  EXPECT_NEAR(
      static_cast<double>(RowOf(frozen, "layer.2").activation_bytes),
      static_cast<double>(RowOf(whole, "layer.2").activation_bytes),
      0.05 * static_cast<double>(RowOf(whole, "layer.2").activation_bytes));
}

}  // namespace
}  // namespace frostline::trainer
