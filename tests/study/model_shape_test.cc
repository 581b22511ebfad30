// SPDX-License-Identifier: Apache-2.0
#include "study/freezing.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

using ::testing::ElementsAre;
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

}  // namespace
}  // namespace frostline
