// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/flops.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace frostline::trainer {
namespace {

const HeadSpec kFlopClasses = {.task = Task::kSequence, .outputs = 2};
const HeadSpec kFlopTags = {.task = Task::kTokens, .outputs = 2};
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
                 const HeadSpec& head = kFlopTags) {
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
  const FreezePlan plan = MakeFreezePlan(config, kFlopTags, rates, {}).value();
  return CountFlops(config, kFlopTags, plan, kTexts, kTokens);
}

ModelConfig ModernBert() {
  ModelConfig config = Base();
  config.family = Family::kModernBert;
  config.gated = true;
  config.feed_forward = 1152;
  return config;
}

TEST(CountFlops, AGatedLayerHasThreeWideMaps) {
  const ModelConfig config = ModernBert();
  const double rows = 8.0 * 128.0;
  const double layer =
      rows * (8.0 * 768.0 * 768.0 + 6.0 * 768.0 * 1152.0 + 4.0 * 128.0 * 768.0);
  EXPECT_DOUBLE_EQ(Full(config).modules[1].forward, layer);
  EXPECT_NEAR(Full(config).spent() / Full(config).forward(), 3.0, 1e-9);
}

ModelConfig Deberta() {
  ModelConfig config = Base();
  config.family = Family::kDebertaV3;
  config.buckets = 256;
  return config;
}

// Two maps of all distances, and two products with them for each token.
TEST(CountFlops, DistancesGoThroughTheirMapsOnceABatch) {
  const ModelConfig config = Deberta();
  const double rows = 8.0 * 128.0;
  const double more = 2.0 * 512.0 * 768.0 * (2.0 * 768.0 + 2.0 * rows);
  EXPECT_DOUBLE_EQ(
      Full(config).modules[1].forward - Frozen(0, false).modules[1].forward,
      more);
  EXPECT_NEAR(Full(config).spent() / Full(config).forward(), 3.0, 1e-9);
}

// All but the layers of `frozen` trains, the embeddings if asked.
StepFlops Partly(const ModelConfig& config, const HeadSpec& head,
                 const std::set<std::int64_t>& frozen, double embeddings,
                 Tuned tuned = Tuned::kAll) {
  ModuleRates rates = {
      {"embeddings", embeddings}, {"pooler", 0.0}, {"head", 1.0}};
  for (std::int64_t i = 0; i < 12; ++i) {
    rates["layer." + std::to_string(i)] = frozen.contains(i) ? 0.0 : 1.0;
  }
  const FreezePlan plan =
      MakeFreezePlan(config, head, rates,
                     {FreezeMode::kHard, PrefixDropout::kHf, tuned})
          .value();
  return CountFlops(config, head, plan, kTexts, kTokens);
}

// Layer 1 is frozen between layers that train: keys and queries of tokens have
// a gradient, those of distances none.
TEST(CountFlops, FrozenDistancesHaveNoGradient) {
  const ModuleFlops layer = Partly(Deberta(), kFlopTags, {1}, 0.0).modules[2];
  const double rows = 8.0 * 128.0;
  const double square = 2.0 * rows * 768.0 * 768.0;
  const double sight = 2.0 * rows * 128.0 * 768.0;
  const double far = 2.0 * rows * 512.0 * 768.0;  // keys, or queries
  EXPECT_DOUBLE_EQ(layer.backward, 12 * square + 4 * sight + 2 * far);
}

// The lowest layer that trains: of its distances the maps' weights, of the
// products with them what came through those.
TEST(CountFlops, DistancesOfAFrozenTableGoNoFurtherThanTheirMaps) {
  const ModuleFlops layer = Partly(Deberta(), kFlopTags, {}, 0.0).modules[1];
  const double rows = 8.0 * 128.0;
  const double square = 2.0 * rows * 768.0 * 768.0;
  const double sight = 2.0 * rows * 128.0 * 768.0;
  const double far = 2.0 * rows * 512.0 * 768.0;
  const double map = 2.0 * 512.0 * 768.0 * 768.0;
  EXPECT_DOUBLE_EQ(layer.backward,
                   (24 - 3) * square + 4 * sight + 4 * far + 2 * map);
}

// ModernBERT's norms stand before the maps: they need the gradient of what
// those read, also in the lowest layer that trains. Layer 0 has none before
// query, key and value.
TEST(CountFlops, ANormBeforeAMapNeedsTheGradientOfItsInput) {
  const ModuleFlops lowest =
      Partly(ModernBert(), kFlopTags, {0}, 0.0).modules[2];
  EXPECT_DOUBLE_EQ(lowest.backward, 2.0 * lowest.forward);
  const ModuleFlops first = Partly(ModernBert(), kFlopTags, {}, 0.0).modules[1];
  const double qkv = 2.0 * 8.0 * 128.0 * 768.0 * 3.0 * 768.0;
  EXPECT_DOUBLE_EQ(first.backward, 2.0 * first.forward - qkv);
}

ModelConfig Electra() {
  ModelConfig config = Base();
  config.family = Family::kElectra;
  config.embedding = 128;
  return config;
}

TEST(CountFlops, NarrowTablesHaveAMap) {
  const ModuleFlops map = Full(Electra()).modules[0];
  EXPECT_DOUBLE_EQ(map.forward, 2.0 * 8.0 * 128.0 * 128.0 * 768.0);
  EXPECT_DOUBLE_EQ(map.spent(), 3.0 * map.forward);
}

TEST(CountFlops, WithBiasesAloneTheMapOfNarrowTablesHasNoWeightsGradient) {
  const ModuleFlops map =
      Partly(Electra(), kFlopTags, {}, 1.0, Tuned::kBiases).modules[0];
  EXPECT_DOUBLE_EQ(map.backward, map.forward);
  EXPECT_DOUBLE_EQ(map.skipped, map.forward);
}

constexpr double kRow = 2.0 * 8.0 * 768.0;  // H to one output, of each text

// Where nothing below trains the first map has no gradient of its input, the
// second has: it comes of the first.
TEST(CountFlops, TheSecondMapOfAHeadHasAnInputsGradient) {
  std::set<std::int64_t> all;
  for (std::int64_t i = 0; i < 12; ++i) all.insert(i);
  const HeadSpec mlp = {
      .task = Task::kSequence, .outputs = 2, .kind = HeadKind::kMlp};
  const ModuleFlops own = Partly(Base(), mlp, all, 0.0).modules.back();
  EXPECT_DOUBLE_EQ(own.forward, kRow * (768.0 + 2.0));
  EXPECT_DOUBLE_EQ(own.backward, kRow * (768.0 + 2.0 * 2.0));
  const ModuleFlops dense =
      Partly(Electra(), kFlopClasses, all, 0.0).modules.back();
  EXPECT_DOUBLE_EQ(dense.backward, kRow * (768.0 + 2.0 * 2.0));
}

// Its two maps stand beside each other.
TEST(CountFlops, AnInnerProductHasNoSecondMap) {
  std::set<std::int64_t> all;
  for (std::int64_t i = 0; i < 12; ++i) all.insert(i);
  const HeadSpec product = {
      .task = Task::kRegression, .outputs = 1, .kind = HeadKind::kInnerProduct};
  const ModuleFlops own = Partly(Base(), product, all, 0.0).modules.back();
  EXPECT_DOUBLE_EQ(own.forward, kRow / 2.0 * (768.0 + 768.0));
  EXPECT_DOUBLE_EQ(own.backward, own.forward);
}

// What a text takes is counted for each, what a batch takes for each batch.
TEST(CountPrefix, OfDistancesTheMapsAreThoseOfABatch) {
  const StepFlops step = Full(Deberta());
  double forward = 0.0;
  for (std::size_t i = 0; i < 4; ++i) forward += step.modules[i].forward;
  const double maps = 3.0 * 2.0 * 2.0 * 512.0 * 768.0 * 768.0;
  const auto of = [](const ModelConfig& config, std::int64_t batches) {
    return CountPrefix(config, kFlopTags, 4, kTexts, batches, kTokens);
  };
  EXPECT_DOUBLE_EQ(of(Deberta(), 1), forward);
  EXPECT_DOUBLE_EQ(of(Deberta(), 3), forward + 2.0 * maps);
  EXPECT_DOUBLE_EQ(of(Base(), 3), of(Base(), 1));
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
  const StepFlops text = Frozen(0, false, hard, kFlopClasses);
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
StepFlops AdaptedFlops(std::int64_t k, const std::set<LoraPart>& parts,
                       FreezeMode mode = FreezeMode::kHard) {
  ModelConfig config = Base();
  config.lora = {.rank = 8, .alpha = 8.0, .dropout = 0.0, .parts = parts};
  ModuleRates rates = {{"embeddings", 0.0}, {"pooler", 1.0}, {"head", 1.0}};
  for (std::int64_t i = 0; i < 12; ++i) {
    rates["layer." + std::to_string(i)] = i < k ? 0.0 : 1.0;
  }
  const FreezePlan plan =
      MakeFreezePlan(config, kFlopClasses, rates, {mode, PrefixDropout::kHf})
          .value();
  return CountFlops(config, kFlopClasses, plan, kTexts, kTokens);
}

constexpr double kSquare = 2.0 * 8 * 128 * 768 * 768;  // H x H
constexpr double kSight = 2.0 * 8 * 128 * 128 * 768;   // one of two products
constexpr double kThin = 2.0 * 8 * 128 * 8 * 768;      // A, or B

TEST(CountFlops, AdaptersCostTwoThinMapsEach) {
  using enum LoraPart;
  const ModuleFlops layer = AdaptedFlops(0, {kQuery, kValue}).modules[5];
  EXPECT_DOUBLE_EQ(layer.forward, 12 * kSquare + 2 * kSight + 4 * kThin);
  // No weight of the layer has a gradient, every input has.
  EXPECT_DOUBLE_EQ(layer.backward, 12 * kSquare + 4 * kSight + 8 * kThin);
  EXPECT_DOUBLE_EQ(layer.skipped, 12 * kSquare);
}

// Nobody asks for the gradient of the lowest layer's input, nor, where only the
// values are adapted, for that of the scores.
TEST(CountFlops, TheLowestAdaptedLayerGoesNoFurtherDownThanItMust) {
  using enum LoraPart;
  const ModuleFlops both = AdaptedFlops(3, {kQuery, kValue}).modules[4];
  EXPECT_DOUBLE_EQ(both.backward, 9 * kSquare + 3 * kSight + 6 * kThin);
  const ModuleFlops value = AdaptedFlops(3, {kValue}).modules[4];
  EXPECT_DOUBLE_EQ(value.backward, 9 * kSquare + kSight + 3 * kThin);
  const ModuleFlops down = AdaptedFlops(3, {kFeedForwardOut}).modules[4];
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
      MakeFreezePlan(config, kFlopClasses, rates,
                     {FreezeMode::kHard, PrefixDropout::kHf, tuned})
          .value();
  return CountFlops(config, kFlopClasses, plan, kTexts, kTokens);
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

// Down to what layer 3 is given: an input's gradient for each map, both of
// attention's products, and of no weight.
TEST(CountInputFlops, APassGoesBackToWhatABlockIsGiven) {
  const StepFlops pass =
      CountInputFlops(Base(), kFlopTags, 1 + 3, kTexts, kTokens);
  EXPECT_EQ(pass.modules[3].spent(), 0.0);
  EXPECT_DOUBLE_EQ(pass.modules[4].forward, 12 * kSquare + 2 * kSight);
  EXPECT_DOUBLE_EQ(pass.modules[4].backward, 12 * kSquare + 4 * kSight);
  EXPECT_EQ(pass.modules[4].module, "layer.3");
  EXPECT_DOUBLE_EQ(pass.modules.back().backward, pass.modules.back().forward);
  EXPECT_EQ(pass.skipped(), 0.0);
  const StepFlops top = CountInputFlops(Base(), kFlopTags, 13, kTexts, kTokens);
  EXPECT_DOUBLE_EQ(top.spent(), pass.modules.back().spent());
}

TEST(CountFlops, AFrozenAdapterCostsNoBackward) {
  using enum LoraPart;
  const StepFlops step = AdaptedFlops(3, {kQuery});
  EXPECT_EQ(step.modules[3].backward, 0.0);
  EXPECT_GT(step.modules[3].forward, 12 * kSquare);
  EXPECT_GT(AdaptedFlops(3, {kQuery}, FreezeMode::kLr0).modules[3].backward,
            0.0);
}

}  // namespace
}  // namespace frostline::trainer
