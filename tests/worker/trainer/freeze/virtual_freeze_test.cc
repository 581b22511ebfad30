// SPDX-License-Identifier: Apache-2.0
#include "gmock/gmock.h"
#include "worker/trainer/freeze/freeze_plan.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr StepBound kAdam = {.each = 7.27, .together = 0.0, .decay = 0.0};
const std::map<std::string, WeightSize> kSizes = {{"layer.0", {0.04, 1e6}},
                                                  {"layer.1", {0.04, 1e6}},
                                                  {"layer.2", {0.04, 1e6}}};

// 7.27 x 5e-9 x 100 = 3.6e-6 is below 1e-4 x 0.04 = 4e-6; 6e-9 is above.
TEST(VirtuallyFrozen, TakesWhatCannotMoveFarEnough) {
  const ModuleRates rates = {
      {"layer.0", 5e-9}, {"layer.1", 6e-9}, {"layer.2", 0.0}, {"head", 2e-10}};
  EXPECT_THAT(VirtuallyFrozen(rates, kSizes, kAdam, 100.0, 1e-4),
              ElementsAre("layer.0"));
  EXPECT_THAT(VirtuallyFrozen(rates, kSizes, kAdam, 100.0, 0.0), IsEmpty());
}

// 1e-4 of a weight in 100 steps is 1e-6 of it in one: no room is left.
TEST(VirtuallyFrozen, DecayMovesAWeightToo) {
  StepBound decayed = kAdam;
  decayed.decay = 100.0;
  const ModuleRates rates = {{"layer.0", 5e-9}};
  EXPECT_THAT(VirtuallyFrozen(rates, kSizes, decayed, 100.0, 1e-4), IsEmpty());
}

// A norm of 1 over a million weights is a thousandth of each.
TEST(VirtuallyFrozen, WhatIsBoundedTogetherIsSharedByAllWeights) {
  const StepBound clipped = {.each = 0.0, .together = 1.0, .decay = 0.0};
  const ModuleRates rates = {{"layer.0", 3.9e-5}, {"layer.1", 4.1e-5}};
  EXPECT_THAT(VirtuallyFrozen(rates, kSizes, clipped, 100.0, 1e-4),
              ElementsAre("layer.0"));
}

}  // namespace
}  // namespace frostline::trainer
