// SPDX-License-Identifier: Apache-2.0
//
// Models with adapters: how they are drawn, run and merged. That they compute
// what peft computes is shown by recordings (tests/parity).
#include <ATen/ops/randn_like.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/worker/trainer/fixtures.h"

namespace frostline::trainer {
namespace {

using enum LoraPart;

class AdaptedModel : public testing::Test {
 protected:
  AdaptedModel()
      : loaded_(LoadFixture("models/distilbert-seq2")),
        batch_(BatchOf(
            ReadTensors(FixturePath("models/distilbert-seq2/io.safetensors")),
            "b0")) {}

  Model Make(std::uint64_t seed = 3, double dropout = 0.0) const {
    ModelConfig config = loaded_.model.config();
    config.lora = {.rank = 4,
                   .alpha = 8.0,
                   .dropout = dropout,
                   .parts = {kQuery, kValue, kFeedForwardOut}};
    const std::vector<bool> none(loaded_.model.weights().size(), false);
    return TrainableCopy(loaded_, config, none, seed);
  }

  // Training would have moved B.
  static void Move(Model& model) {
    for (Weight& each : model.weights()) {
      if (each.spec.role != Role::kLoraB) continue;
      each.value.copy_(at::randn_like(each.value) * 0.1);
    }
  }

  at::Tensor Run(const Model& model, const Pass& pass = {}) const {
    const at::NoGradGuard no_graph;
    return model.Forward(batch_, pass);
  }

  LoadedModel loaded_;
  Batch batch_;
};

TEST_F(AdaptedModel, BeginsWhereThePretrainedModelIs) {
  EXPECT_TRUE(Run(Make()).equal(Run(loaded_.model)));
}

// Whatever D was drawn, U is 0; and where U moves they do something.
TEST_F(AdaptedModel, BottlenecksBeginWhereThePretrainedModelIs) {
  for (const bool relu : {false, true}) {
    ModelConfig config = loaded_.model.config();
    config.bottleneck = {.size = 4, .relu = relu};
    const std::vector<bool> none(loaded_.model.weights().size(), false);
    Model model = TrainableCopy(loaded_, config, none, 3);
    EXPECT_TRUE(Run(model).equal(Run(loaded_.model)));
    for (Weight& each : model.weights()) {
      if (each.spec.role == Role::kUp) each.value.fill_(0.1);
    }
    EXPECT_FALSE(Run(model).equal(Run(loaded_.model)));
  }
}

// Uniform up to 1 / sqrt(inputs), as nn.Linear and peft draw it.
TEST_F(AdaptedModel, DrawsAFromTheSeedAndBIsZero) {
  const Model one = Make(3);
  const Model again = Make(3);
  const Model other = Make(4);
  for (std::size_t i = 0; i < one.weights().size(); ++i) {
    const Weight& each = one.weights()[i];
    if (each.spec.role == Role::kLoraB) {
      EXPECT_EQ(each.value.abs().max().item<double>(), 0.0);
    }
    if (each.spec.role != Role::kLoraA) continue;
    const double most = 1.0 / std::sqrt(each.value.size(1));
    const double largest = each.value.abs().max().item<double>();
    EXPECT_LE(largest, most);
    EXPECT_GT(largest, 0.8 * most);
    EXPECT_LT(each.value.min().item<double>(), 0.0);
    EXPECT_TRUE(each.value.equal(again.weights()[i].value));
    EXPECT_FALSE(each.value.equal(other.weights()[i].value));
  }
}

TEST_F(AdaptedModel, TheHeadIsDrawnAsItIsWithoutAdapters) {
  const LoadedModel loaded =
      LoadModel(FixturePath("models/bert-seq5"),
                {.task = Task::kSequence, .outputs = 3}, 1)
          .value();
  ASSERT_FALSE(loaded.report.initialized.empty());
  ModelConfig config = loaded.model.config();
  const std::vector<bool> none(loaded.model.weights().size(), false);
  const Model plain = TrainableCopy(loaded, config, none, 9);
  config.lora.rank = 4;
  const Model adapted = TrainableCopy(loaded, config, none, 9);
  for (std::size_t i = 0; i < plain.weights().size(); ++i) {
    EXPECT_TRUE(plain.weights()[i].value.equal(adapted.weights()[i].value));
  }
}

TEST_F(AdaptedModel, MergedIsAPlainModelThatComputesTheSame) {
  Model model = Make();
  Move(model);
  const Model merged = model.Merged();
  EXPECT_EQ(merged.weights().size(), loaded_.model.weights().size());
  EXPECT_FALSE(merged.config().lora.any());
  EXPECT_LE(Furthest(Run(merged), Run(model)), 1e-5);
  EXPECT_GT(Furthest(Run(merged), Run(loaded_.model)), 1e-2);
}

TEST_F(AdaptedModel, MergingLeavesTheSharedWeightsAlone) {
  const at::Tensor before = Run(loaded_.model);
  Model model = Make();
  Move(model);
  const at::Tensor adapted = Run(model);
  EXPECT_EQ(model.Merged().weights().size(), loaded_.model.weights().size());
  EXPECT_TRUE(Run(loaded_.model).equal(before));
  EXPECT_TRUE(Run(model).equal(adapted));
}

TEST_F(AdaptedModel, DropsWhatAnAdapterSeesOnlyWhileItTrains) {
  Model model = Make(3, 0.5);
  Move(model);
  batch_ = Noisy(batch_, 1);
  Pass training;
  training.training = true;
  training.still_blocks = 0;
  const at::Tensor plain = Run(model);
  EXPECT_GT(Furthest(Run(model, training), plain), 1e-4);
  training.still_blocks = 1 + model.config().layers;
  EXPECT_LE(Furthest(Run(model, training), plain), 1e-6);
}

}  // namespace
}  // namespace frostline::trainer
