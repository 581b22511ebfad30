// SPDX-License-Identifier: Apache-2.0
#include "study/strategy.h"

#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

using ::testing::ElementsAre;
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
