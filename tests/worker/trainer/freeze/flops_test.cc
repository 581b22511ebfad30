// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/flops.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace frostline::trainer {
namespace {

const HeadSpec kTwoClasses = {.task = Task::kSequence, .outputs = 2};
const HeadSpec kTags = {.task = Task::kTokens, .outputs = 2};
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
                 FreezeMode mode = FreezeMode::kHard,
                 const HeadSpec& head = kTags) {
  ModuleRates rates = {
      {"embeddings", embeddings ? 0.0 : 1.0}, {"pooler", 1.0}, {"head", 1.0}};
  for (std::int64_t i = 0; i < 12; ++i) {
    rates["layer." + std::to_string(i)] = i < k ? 0.0 : 1.0;
  }
  const FreezeSemantics semantics = {mode, PrefixDropout::kHf};
  const FreezePlan plan =
      MakeFreezePlan(Base(), head, rates, semantics).value();
  return CountFlops(Base(), head, plan, kTexts, kTokens);
}

// Per token and layer: 24 h^2 + 4 n h.
TEST(CountFlops, AForwardPassIsWhatTheFormulaSays) {
  const double rows = 8.0 * 128.0;
  const double layer = rows * (24.0 * 768.0 * 768.0 + 4.0 * 128.0 * 768.0);
  EXPECT_DOUBLE_EQ(Frozen(0, false).modules[1].forward, layer);
  EXPECT_EQ(Frozen(0, false).modules[1].module, "layer.0");
}

// All of `config` trains.
StepFlops Full(const ModelConfig& config) {
  ModuleRates rates = {{"embeddings", 1.0}, {"head", 1.0}};
  for (std::int64_t i = 0; i < 12; ++i) {
    rates["layer." + std::to_string(i)] = 1.0;
  }
  const FreezePlan plan = MakeFreezePlan(config, kTags, rates, {}).value();
  return CountFlops(config, kTags, plan, kTexts, kTokens);
}

TEST(CountFlops, AGatedLayerHasThreeWideMaps) {
  ModelConfig config = Base();
  config.family = Family::kModernBert;
  config.gated = true;
  config.feed_forward = 1152;
  const double rows = 8.0 * 128.0;
  const double layer =
      rows * (8.0 * 768.0 * 768.0 + 6.0 * 768.0 * 1152.0 + 4.0 * 128.0 * 768.0);
  EXPECT_DOUBLE_EQ(Full(config).modules[1].forward, layer);
  EXPECT_NEAR(Full(config).spent() / Full(config).forward(), 3.0, 1e-9);
}

// Two maps of all distances, and two products with them for each token.
TEST(CountFlops, DistancesGoThroughTheirMapsOnceABatch) {
  ModelConfig config = Base();
  config.family = Family::kDebertaV3;
  config.buckets = 256;
  const double rows = 8.0 * 128.0;
  const double more = 2.0 * 512.0 * 768.0 * (2.0 * 768.0 + 2.0 * rows);
  EXPECT_DOUBLE_EQ(
      Full(config).modules[1].forward - Frozen(0, false).modules[1].forward,
      more);
  EXPECT_NEAR(Full(config).spent() / Full(config).forward(), 3.0, 1e-9);
}

TEST(CountFlops, NarrowTablesHaveAMap) {
  ModelConfig config = Base();
  config.family = Family::kElectra;
  config.embedding = 128;
  const ModuleFlops map = Full(config).modules[0];
  EXPECT_DOUBLE_EQ(map.forward, 2.0 * 8.0 * 128.0 * 128.0 * 768.0);
  EXPECT_DOUBLE_EQ(map.spent(), 3.0 * map.forward);
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

// K and V of all tokens, a twelfth of a layer's weights each; all else of one.
TEST(CountFlops, TheTopLayerOfATextIsASixth) {
  const FreezeMode hard = FreezeMode::kHard;
  const StepFlops tags = Frozen(0, false);
  const StepFlops text = Frozen(0, false, hard, kTwoClasses);
  EXPECT_EQ(text.modules[11].spent(), tags.modules[11].spent());
  const double square = 2.0 * 8 * 768 * 768;  // H x H for a token of each text
  const double sight = 2.0 * 8 * 128 * 768;
  EXPECT_DOUBLE_EQ(text.modules[12].forward,
                   2 * 128 * square + 10 * square + 2 * sight);
  EXPECT_DOUBLE_EQ(text.modules[12].backward, 2 * text.modules[12].forward);
  EXPECT_LT(text.modules[12].spent(), tags.modules[12].spent() / 5.5);
}

TEST(CountFlops, TheMeanOfAllTokensNeedsAllOfThem) {
  const HeadSpec mean = {.task = Task::kRegression,
                         .outputs = 1,
                         .kind = HeadKind::kCosine,
                         .pooling = Pooling::kMean};
  EXPECT_EQ(Frozen(0, false, FreezeMode::kHard, mean).modules[12].forward,
            Frozen(0, false).modules[12].forward);
}

// Query and value adapted in layers from `k` on.
StepFlops Adapted(std::int64_t k, const std::set<LoraPart>& parts,
                  FreezeMode mode = FreezeMode::kHard) {
  ModelConfig config = Base();
  config.lora = {.rank = 8, .alpha = 8.0, .dropout = 0.0, .parts = parts};
  ModuleRates rates = {{"embeddings", 0.0}, {"pooler", 1.0}, {"head", 1.0}};
  for (std::int64_t i = 0; i < 12; ++i) {
    rates["layer." + std::to_string(i)] = i < k ? 0.0 : 1.0;
  }
  const FreezePlan plan =
      MakeFreezePlan(config, kTwoClasses, rates, {mode, PrefixDropout::kHf})
          .value();
  return CountFlops(config, kTwoClasses, plan, kTexts, kTokens);
}

constexpr double kSquare = 2.0 * 8 * 128 * 768 * 768;  // H x H
constexpr double kSight = 2.0 * 8 * 128 * 128 * 768;   // one of two products
constexpr double kThin = 2.0 * 8 * 128 * 8 * 768;      // A, or B

TEST(CountFlops, AdaptersCostTwoThinMapsEach) {
  using enum LoraPart;
  const ModuleFlops layer = Adapted(0, {kQuery, kValue}).modules[5];
  EXPECT_DOUBLE_EQ(layer.forward, 12 * kSquare + 2 * kSight + 4 * kThin);
  // No weight of the layer has a gradient, every input has.
  EXPECT_DOUBLE_EQ(layer.backward, 12 * kSquare + 4 * kSight + 8 * kThin);
  EXPECT_DOUBLE_EQ(layer.skipped, 12 * kSquare);
}

// Nobody asks for the gradient of the lowest layer's input, nor, where only the
// values are adapted, for that of the scores.
TEST(CountFlops, TheLowestAdaptedLayerGoesNoFurtherDownThanItMust) {
  using enum LoraPart;
  const ModuleFlops both = Adapted(3, {kQuery, kValue}).modules[4];
  EXPECT_DOUBLE_EQ(both.backward, 9 * kSquare + 3 * kSight + 6 * kThin);
  const ModuleFlops value = Adapted(3, {kValue}).modules[4];
  EXPECT_DOUBLE_EQ(value.backward, 9 * kSquare + kSight + 3 * kThin);
  const ModuleFlops down = Adapted(3, {kFeedForwardOut}).modules[4];
  const double wide = 2.0 * 8 * 128 * 8 * 3072;
  EXPECT_DOUBLE_EQ(down.backward, 2 * kThin + wide);
}

StepFlops Instead(std::int64_t k, const BottleneckSpec& bottleneck,
                  Tuned tuned) {
  ModelConfig config = Base();
  config.bottleneck = bottleneck;
  ModuleRates rates = {{"embeddings", 0.0}, {"pooler", 1.0}, {"head", 1.0}};
  for (std::int64_t i = 0; i < 12; ++i) {
    rates["layer." + std::to_string(i)] = i < k ? 0.0 : 1.0;
  }
  const FreezePlan plan =
      MakeFreezePlan(config, kTwoClasses, rates,
                     {FreezeMode::kHard, PrefixDropout::kHf, tuned})
          .value();
  return CountFlops(config, kTwoClasses, plan, kTexts, kTokens);
}

// Two thin maps behind attention, two behind the feed forward. In the lowest
// layer the first pair's input has no gradient.
TEST(CountFlops, BottlenecksCostFourThinMapsALayer) {
  const StepFlops step = Instead(3, {.size = 8}, Tuned::kAll);
  EXPECT_DOUBLE_EQ(step.modules[6].forward,
                   12 * kSquare + 2 * kSight + 4 * kThin);
  EXPECT_DOUBLE_EQ(step.modules[6].backward,
                   12 * kSquare + 4 * kSight + 8 * kThin);
  EXPECT_DOUBLE_EQ(step.modules[4].backward, 8 * kSquare + 7 * kThin);
  EXPECT_EQ(step.modules[3].backward, 0.0);
}

// No product of a weight's gradient; below the lowest layer's maps none at all.
TEST(CountFlops, BiasesAloneCostTheInputsGradients) {
  const StepFlops step = Instead(3, {}, Tuned::kBiases);
  EXPECT_DOUBLE_EQ(step.modules[6].forward, 12 * kSquare + 2 * kSight);
  EXPECT_DOUBLE_EQ(step.modules[6].backward, 12 * kSquare + 4 * kSight);
  EXPECT_DOUBLE_EQ(step.modules[4].backward, 9 * kSquare + 4 * kSight);
  EXPECT_EQ(step.modules[3].backward, 0.0);
}

TEST(CountFlops, AFrozenAdapterCostsNoBackward) {
  using enum LoraPart;
  const StepFlops step = Adapted(3, {kQuery});
  EXPECT_EQ(step.modules[3].backward, 0.0);
  EXPECT_GT(step.modules[3].forward, 12 * kSquare);
  EXPECT_GT(Adapted(3, {kQuery}, FreezeMode::kLr0).modules[3].backward, 0.0);
}

}  // namespace
}  // namespace frostline::trainer
