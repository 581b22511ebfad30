// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/apply_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/worker/trainer/fixtures.h"

namespace frostline::trainer {
namespace {

class ApplyingAPlan : public testing::Test {
 protected:
  FreezePlan Plan(const ModuleRates& rates, const FreezeSemantics& semantics) {
    return MakeFreezePlan(model_.config(), model_.head().spec(), rates,
                          semantics)
        .value();
  }

  static ModuleRates Rates() {
    return {{"embeddings", 0.0}, {"layer.0", 0.0}, {"layer.1", 0.5},
            {"layer.2", 0.0},    {"pooler", 0.5},  {"head", 0.5}};
  }

  Model model_ = LoadFixture("models/bert-seq2").model;
};

TEST_F(ApplyingAPlan, GivesGradientsToWhatTrainsAlone) {
  ApplyPlan(Plan(Rates(), {}), model_);
  for (const Weight& each : model_.weights()) {
    const bool trains = each.spec.layer == 1 || each.spec.part == Part::kHead ||
                        each.spec.part == Part::kPooler;
    EXPECT_EQ(each.value.requires_grad(), trains) << each.spec.name;
  }
}

TEST_F(ApplyingAPlan, StillBlocksAreThePrefixWhenDropoutIsOff) {
  const FreezePlan hf = Plan(Rates(), {});
  EXPECT_EQ(TrainingPass(hf).frozen_blocks, 2);
  EXPECT_EQ(TrainingPass(hf).still_blocks, 0);
  const FreezePlan off = Plan(Rates(), {FreezeMode::kLr0, PrefixDropout::kOff});
  EXPECT_EQ(TrainingPass(off).frozen_blocks, 0);
  EXPECT_EQ(TrainingPass(off).still_blocks, 2);
}

TEST_F(ApplyingAPlan, SliceRatesFollowTheHeads) {
  ParameterSpec query;
  query.shape = {4, 3};
  query.head_axis = HeadAxis::kRows;
  ParameterPlan plan;
  EXPECT_FALSE(SliceRates(query, plan).defined());
  plan.head_rates = {0.0, 2.0};  // two heads of two rows
  const at::Tensor rows = SliceRates(query, plan);
  EXPECT_EQ(rows.sizes().vec(), (std::vector<std::int64_t>{4, 1}));
  EXPECT_EQ(rows[1][0].item<double>(), 0.0);
  EXPECT_EQ(rows[2][0].item<double>(), 2.0);
  ParameterSpec out;
  out.shape = {3, 4};
  out.head_axis = HeadAxis::kColumns;
  EXPECT_EQ(SliceRates(out, plan).sizes().vec(),
            (std::vector<std::int64_t>{4}));
}

TEST_F(ApplyingAPlan, SizesAreOfWeightsAlone) {
  for (Weight& each : model_.weights()) {
    each.value.fill_(each.spec.decays() ? 0.25 : 9.0);
  }
  const std::map<std::string, WeightSize> sizes = SizesOfModules(model_);
  EXPECT_EQ(sizes.size(), 6U);
  for (const auto& [module, size] : sizes) {
    EXPECT_NEAR(size.root_mean_square, 0.25, 1e-6) << module;
  }
  EXPECT_EQ(sizes.at("pooler").count, 32.0 * 32.0);
}

}  // namespace
}  // namespace frostline::trainer
