// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/memory.h"

#include "tests/worker/registry/registry_fixture.h"
#include "worker/registry/check.h"

namespace frostline::registry {
namespace {

// A BERT of three layers; tests/python/memory_test.py holds it against a
// trainer.
class TrainingMemoryTest : public RegistryTest {
 protected:
  TrainingMemoryTest() {
    EXPECT_OK(AddModel(registry(), {WriteModel("m"), ""}).status());
    use_.model = "m";
    use_.batch_size = 8;
    use_.max_length = 16;
  }
  TrainingMemory Memory() const {
    return TrainingMemory::Of(ReadRegistry(registry()).value(), use_).value();
  }

  TrainingUse use_;
};

TEST_F(TrainingMemoryTest, WhatTrainsHasCopiesAndMoments) {
  const TrainingMemory memory = Memory();
  const TrainedModules none;
  const TrainedModules layer = {.whole = {"layer.1"}, .adapted = {}};
  const TrainedModules halves = {.whole = {"layer.1.attention", "layer.1.ffn"},
                                 .adapted = {}};
  const double weights = memory.Optimizer(layer) / 2.0;
  EXPECT_GT(weights, 0.0);
  EXPECT_DOUBLE_EQ(memory.Optimizer(halves), memory.Optimizer(layer));
  EXPECT_EQ(memory.Optimizer(none), 0.0);
  // The copy, the best copy, two moments, a gradient.
  EXPECT_NEAR(memory.Least(layer) - memory.Least(none), 5.0 * weights, 1e-9);
  use_.keeps_best = false;
  use_.moments = 0;
  EXPECT_NEAR(Memory().Least(layer) - Memory().Least(none), 2.0 * weights,
              1e-9);
}

TEST_F(TrainingMemoryTest, ActivationsAreOfTheLowestThatTrainsAndAllAbove) {
  use_.batch_size = 256;  // so that they outweigh the rest
  const TrainingMemory memory = Memory();
  const auto most = [&](const TrainedModules& trained) {
    return memory.MostAtOnce(trained) - memory.Least(trained);
  };
  const double low = most({.whole = {"layer.0"}, .adapted = {}});
  const double middle = most({.whole = {"layer.1"}, .adapted = {}});
  const double top = most({.whole = {"layer.2"}, .adapted = {}});
  EXPECT_GT(low, middle);
  EXPECT_GT(middle, top);
  // An adapter lets activations be kept and weighs nothing.
  const TrainedModules adapted = {.whole = {}, .adapted = {"layer.0"}};
  EXPECT_EQ(memory.Optimizer(adapted), 0.0);
  EXPECT_GT(memory.MostAtOnce(adapted), memory.MostAtOnce({}));
  use_.batch_size = 512;
  const TrainedModules lowest = {.whole = {"layer.0"}, .adapted = {}};
  EXPECT_NEAR(Memory().MostAtOnce(lowest) - Memory().Least(lowest), 2.0 * low,
              0.2 * low);
}

TEST_F(TrainingMemoryTest, NoTextIsLongerThanTheModelReads) {
  use_.max_length = 1'000'000;
  EXPECT_LT(Memory().longest(), 1'000'000);
  use_.max_length = 0;
  use_.batch_size = 0;
  EXPECT_EQ(Memory().texts(), 32);
  EXPECT_LE(Memory().longest(), 128);
}

TEST_F(TrainingMemoryTest, AModelThatIsNotThereIsSaid) {
  use_.model = "another";
  EXPECT_FALSE(TrainingMemory::Of(ReadRegistry(registry()).value(), use_).ok());
}

}  // namespace
}  // namespace frostline::registry
