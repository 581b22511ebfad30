// SPDX-License-Identifier: Apache-2.0
#include "worker/demo_trainer/fine_tuning.h"

#include "gtest/gtest.h"

namespace frostline::demo_trainer {
namespace {

constexpr std::size_t kLayer3 = 4;
constexpr std::size_t kHead = 7;
constexpr int kEpochs = 20;

const Task& SharedTask() {
  static const auto* task = new Task(MakeTask());
  return *task;
}

Settings Train(std::vector<std::size_t> modules, double rate) {
  Settings settings;
  for (const std::size_t m : modules) settings.rates[m] = rate;
  return settings;
}

std::vector<std::size_t> AllModules() { return {0, 1, 2, 3, 4, 5, 6, 7}; }

// Mean over seeds of the order of the examples.
double AccuracyOf(std::vector<std::size_t> modules, double rate) {
  double sum = 0.0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Settings settings = Train(modules, rate);
    settings.seed = seed;
    FineTuning training(SharedTask().pretrained, SharedTask().train, settings);
    for (int i = 0; i < kEpochs; ++i) training.Epoch();
    sum += Accuracy(training.network(), SharedTask().validation);
  }
  return sum / 3.0;
}

TEST(FineTuning, IsTheSameToTheLastBit) {
  const Settings settings = Train(AllModules(), 3e-3);
  FineTuning first(SharedTask().pretrained, SharedTask().train, settings);
  FineTuning second(MakeTask().pretrained, SharedTask().train, settings);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(first.Epoch(), second.Epoch());
  EXPECT_EQ(first.Save(), second.Save());
}

TEST(FineTuning, GoesOnAfterACheckpointAsIfNothingHadHappened) {
  const Settings settings = Train({kLayer3, kHead}, 1e-2);
  FineTuning whole(SharedTask().pretrained, SharedTask().train, settings);
  FineTuning half(SharedTask().pretrained, SharedTask().train, settings);
  for (int i = 0; i < 4; ++i) whole.Epoch();
  for (int i = 0; i < 2; ++i) half.Epoch();
  FineTuning rest(SharedTask().pretrained, SharedTask().train, settings);
  ASSERT_TRUE(rest.Restore(half.Save()));
  for (int i = 0; i < 2; ++i) rest.Epoch();
  EXPECT_EQ(rest.Save(), whole.Save());
  EXPECT_FALSE(rest.Restore("too short"));
}

TEST(FineTuning, FrozenModulesDoNotMove) {
  FineTuning training(SharedTask().pretrained, SharedTask().train,
                      Train({kLayer3, kHead}, 1e-2));
  training.Epoch();
  for (std::size_t m = 0; m < kModules; ++m) {
    const bool moved = training.network().module(m).weights !=
                       SharedTask().pretrained.module(m).weights;
    EXPECT_EQ(moved, m == kLayer3 || m == kHead) << ModuleNames()[m];
  }
  EXPECT_EQ(training.trained_parameters(), 16 * 16 + 16 + 16 * 4 + 4);
}

TEST(FineTuning, FreezingIsNotPaidFor) {
  const FineTuning all(SharedTask().pretrained, SharedTask().train,
                       Train(AllModules(), 1e-2));
  const FineTuning head(SharedTask().pretrained, SharedTask().train,
                        Train({kHead}, 1e-2));
  EXPECT_EQ(all.flops_skipped_per_example(), 0.0);
  EXPECT_LT(head.flops_per_example(), 0.4 * all.flops_per_example());
}

// The point of the demonstration: which layers train matters, and which ones is
// known.
TEST(Task, TheShiftedLayerAndTheHeadAreWhatToTrain) {
  const double right = AccuracyOf({kLayer3, kHead}, 1e-2);
  EXPECT_GT(right, AccuracyOf({kHead}, 1e-2) + 0.03);
  EXPECT_GT(right, AccuracyOf({kLayer3}, 1e-2) + 0.03);
  EXPECT_GT(right, AccuracyOf({1, kHead}, 1e-2) + 0.03);
  EXPECT_GT(right, AccuracyOf(AllModules(), 1e-2) + 0.08);
  EXPECT_GT(right,
            Accuracy(SharedTask().pretrained, SharedTask().validation) + 0.15);
}

}  // namespace
}  // namespace frostline::demo_trainer
