// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "gmock/gmock.h"
#include "study/frozen_prefix.h"
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

}  // namespace
}  // namespace frostline
