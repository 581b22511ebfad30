// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/flops.h"

#include <gtest/gtest.h>

namespace frostline {
namespace {

const HeadSpec kTwoClasses = {.task = Task::kSequence, .outputs = 2};
constexpr std::int64_t kTexts = 8;
constexpr std::int64_t kTokens = 128;

// The base shape, in which head and pooler are nothing beside a layer.
ModelConfig Base() {
  ModelConfig config;
  config.vocabulary = 30522;
  config.hidden = 768;
  config.layers = 12;
  config.heads = 12;
  config.feed_forward = 3072;
  config.positions = 512;
  config.types = 2;
  return config;
}

// Layers below k frozen, the embeddings if asked; every other module trains.
StepFlops Frozen(std::int64_t k, bool embeddings,
                 FreezeMode mode = FreezeMode::kHard) {
  ModuleRates rates = {
      {"embeddings", embeddings ? 0.0 : 1.0}, {"pooler", 1.0}, {"head", 1.0}};
  for (std::int64_t i = 0; i < 12; ++i) {
    rates["layer." + std::to_string(i)] = i < k ? 0.0 : 1.0;
  }
  const FreezeSemantics semantics = {mode, PrefixDropout::kHf};
  const FreezePlan plan =
      MakeFreezePlan(Base(), kTwoClasses, rates, semantics).value();
  return CountFlops(Base(), kTwoClasses, plan, kTexts, kTokens);
}

// Per token and layer: 24 h^2 + 4 n h.
TEST(CountFlops, AForwardPassIsWhatTheFormulaSays) {
  const double rows = 8.0 * 128.0;
  const double layer = rows * (24.0 * 768.0 * 768.0 + 4.0 * 128.0 * 768.0);
  EXPECT_DOUBLE_EQ(Frozen(0, false).modules[1].forward, layer);
  EXPECT_EQ(Frozen(0, false).modules[1].module, "layer.0");
}

TEST(CountFlops, FullTrainingIsThreeForwards) {
  const StepFlops full = Frozen(0, false);
  EXPECT_NEAR(full.spent() / full.forward(), 3.0, 1e-9);
  EXPECT_EQ(full.skipped(), 0.0);
}

// 3 L / (3 L - 2 k); the lowest layer that trains saves a little more, as no
// gradient of its input is needed.
TEST(CountFlops, AFrozenPrefixSavesTwoOfThree) {
  const double full = Frozen(0, false).spent();
  EXPECT_NEAR(full / Frozen(6, true).spent(), 36.0 / 24.0, 0.03);
  EXPECT_GT(full / Frozen(6, true).spent(), 36.0 / 24.0);
}

// 3 L / (3 L - k), less what attention's own products cost, which have no
// weights to skip.
TEST(CountFlops, WithTrainedEmbeddingsOnlyTheWeightsAreSaved) {
  const double full = Frozen(0, false).spent();
  EXPECT_NEAR(full / Frozen(6, false).spent(), 36.0 / 30.0, 0.01);
  EXPECT_LT(full / Frozen(6, false).spent(), 36.0 / 30.0);
}

TEST(CountFlops, SpentAndSkippedAreFullTraining) {
  const double full = Frozen(0, false).spent();
  for (const std::int64_t k : {1, 6, 12}) {
    const StepFlops step = Frozen(k, true);
    EXPECT_DOUBLE_EQ(step.spent() + step.skipped(), full);
  }
}

TEST(CountFlops, Lr0SkipsNothing) {
  EXPECT_EQ(Frozen(6, true, FreezeMode::kLr0).skipped(), 0.0);
}

}  // namespace
}  // namespace frostline
