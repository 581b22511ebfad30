// SPDX-License-Identifier: Apache-2.0
#include "study/freezing.h"

#include <numeric>

#include "gmock/gmock.h"
#include "study/space_builder.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

const Levels kSeven{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}};
const Levels kTwo{{0, 2e-5}};

double Mean(const std::vector<double>& chances) {
  double mean = 0.0;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    mean += static_cast<double>(i) * chances[i];
  }
  EXPECT_NEAR(std::accumulate(chances.begin(), chances.end(), 0.0), 1.0, 1e-12);
  return mean;
}

TEST(TrialsToTell, AreSevenForEachModuleThatCanBeFrozenAndTwentyFourAtLeast) {
  SpaceBuilder six({.num_layers = 6});
  six.AddModules("layer.*", kSeven, "");
  EXPECT_EQ(TrialsToTell(*six.Build()), 42);
  SpaceBuilder two({.num_layers = 2});
  two.AddModules("layer.*", kTwo, "");
  EXPECT_EQ(TrialsToTell(*two.Build()), 24);
  SpaceBuilder none({.num_layers = 6});
  none.AddModules("layer.*", Levels{{2e-6, 2e-5}}, "");
  EXPECT_EQ(TrialsToTell(*none.Build()), 0);
}

TEST(FrozenPrefix, OfSevenIndependentLevelsASixthOfAModuleIsFrozen) {
  SpaceBuilder builder({.num_layers = 6});
  builder.AddModules("embeddings", kSeven, "");
  builder.AddModules("layer.*", kSeven, "");
  const Space space = *builder.Build();
  const auto chances = FrozenPrefixChances(space, 6, 0.2);
  ASSERT_EQ(chances.size(), 8);
  EXPECT_NEAR(chances[0], 6.0 / 7, 1e-12);
  EXPECT_NEAR(Mean(chances), 1.0 / 6, 1e-5);
}

TEST(FrozenPrefix, ASearchedDepthFreezesAllBelowItAndPerhapsMore) {
  SpaceBuilder builder({.num_layers = 3});
  builder.AddModules("layer.*", kTwo, "");
  builder.SetPrefixDepth(1, 3, "");
  const auto chances = FrozenPrefixChances(*builder.Build(), 3, 0.2);
  // Depth 1 ends at layer.1 in half of the cases, at layer.2 in a quarter.
  EXPECT_THAT(chances, ElementsAre(0, 0, DoubleNear(0.5 / 3, 1e-12),
                                   DoubleNear((0.25 + 0.5) / 3, 1e-12),
                                   DoubleNear((0.25 + 0.5 + 1) / 3, 1e-12)));
}

TEST(FrozenPrefix, ATieDecidesOnceAndAFixedRateEndsIt) {
  SpaceBuilder builder({.num_layers = 3});
  builder.TieModules("low", {"embeddings", "layer.0-1"},
                     LogUniform{1e-7, 1e-4, true}, "");
  builder.FixModules("layer.2", 1e-5, "");
  EXPECT_THAT(FrozenPrefixChances(*builder.Build(), 3, 0.25),
              ElementsAre(0.75, 0, 0, 0.25, 0));
}

TEST(FrozenPrefix, OfALayerThatIsCutEveryPartCounts) {
  SpaceBuilder builder({.num_layers = 1});
  builder.SetDefault({.kind = StrategyKind::kFull, .rate = 1e-3}, "");
  builder.FixModules("embeddings", 0, "");
  builder.AddModules("layer.0.attention", kTwo, "");
  builder.AddModules("layer.0.ffn", kTwo, "");
  EXPECT_THAT(FrozenPrefixChances(*builder.Build(), 1, 0.2),
              ElementsAre(0, 0.75, 0.25));
}

const ModelShape kModelShape{.num_layers = 3, .heads_per_layer = 2};

TEST(ModelShape, ListsModulesInDepthOrder) {
  EXPECT_THAT(TopModules(kModelShape),
              ElementsAre("embeddings", "layer.0", "layer.1", "layer.2",
                          "pooler", "head"));
  EXPECT_THAT(TopModules({.num_layers = 1, .has_pooler = false}),
              ElementsAre("embeddings", "layer.0", "head"));
}

TEST(ModelShape, SelectorsNameModules) {
  const auto select = [](const char* text) {
    return *SelectModules(kModelShape, text, "f");
  };
  EXPECT_THAT(select("layer.*"), ElementsAre("layer.0", "layer.1", "layer.2"));
  EXPECT_THAT(select("layer.1-2"), ElementsAre("layer.1", "layer.2"));
  EXPECT_THAT(select("layer.2.ffn"), ElementsAre("layer.2.ffn"));
  EXPECT_THAT(select("layer.0.head.*"),
              ElementsAre("layer.0.head.0", "layer.0.head.1"));
}

TEST(ModelShape, WhatNamesNothingIsRefused) {
  for (const char* bad : {"", "layer", "layer.3", "layer.2-1", "layer.0-3",
                          "layer.0.head.2", "layer.x", "Layer.0", "heads"}) {
    EXPECT_THAT(SelectModules(kModelShape, bad, "f"),
                FailsWith(ErrorId::kModuleUnknown))
        << bad;
  }
}

TEST(ModelShape, PartsOverlapWithTheirLayer) {
  EXPECT_TRUE(Overlap("layer.3", "layer.3.ffn"));
  EXPECT_TRUE(Overlap("layer.3.attention", "layer.3.head.7"));
  EXPECT_FALSE(Overlap("layer.3.ffn", "layer.3.head.7"));
  EXPECT_FALSE(Overlap("layer.1", "layer.11"));
  EXPECT_EQ(LayerOf("layer.3.ffn"), 3);
  EXPECT_EQ(LayerOf("head"), -1);
}

const ModelShape kStrategyShape{.num_layers = 4};

std::vector<double> Rates(const Strategy& strategy) {
  std::vector<double> rates;
  const auto applied = ApplyStrategy(strategy, kStrategyShape, "f");
  for (const ModuleRate& rate : *applied) rates.push_back(rate.rate);
  return rates;  // embeddings, 4 layers, pooler, head
}

TEST(Strategy, EachGivesItsRates) {
  EXPECT_THAT(Rates({.kind = StrategyKind::kFull, .rate = 1}),
              ElementsAre(1, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(Rates({.kind = StrategyKind::kHeadOnly, .rate = 1}),
              ElementsAre(0, 0, 0, 0, 0, 1, 1));
  EXPECT_THAT(Rates({.kind = StrategyKind::kFirstK, .rate = 1, .k = 2}),
              ElementsAre(0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(Rates({.kind = StrategyKind::kFirstK,
                     .rate = 1,
                     .k = 2,
                     .freeze_embeddings = false}),
              ElementsAre(1, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(Rates({.kind = StrategyKind::kLastK, .rate = 1, .k = 1}),
              ElementsAre(0, 0, 0, 0, 1, 1, 1));
  EXPECT_THAT(Rates({.kind = StrategyKind::kAlternating, .rate = 1}),
              ElementsAre(1, 0, 1, 0, 1, 1, 1));
  EXPECT_THAT(Rates({.kind = StrategyKind::kDecay, .rate = 1, .factor = 0.5}),
              ElementsAre(0.0625, 0.125, 0.25, 0.5, 1, 1, 1));
}

TEST(Strategy, WhatDoesNotFitTheModelIsRefused) {
  for (const Strategy& bad :
       {Strategy{.kind = StrategyKind::kFull, .rate = 0},
        Strategy{.kind = StrategyKind::kFirstK, .rate = 1, .k = 5},
        Strategy{.kind = StrategyKind::kLastK, .rate = 1, .k = -1},
        Strategy{.kind = StrategyKind::kDecay, .rate = 1, .factor = 0}}) {
    EXPECT_FALSE(ApplyStrategy(bad, kStrategyShape, "f").ok());
  }
}

}  // namespace
}  // namespace frostline
