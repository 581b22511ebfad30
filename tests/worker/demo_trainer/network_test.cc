// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "gtest/gtest.h"
#include "worker/demo_trainer/fine_tuning.h"

namespace frostline::demo_trainer {
namespace {

constexpr double kStep = 1e-6;

Example SomeExample(Rng& rng) {
  Example example;
  for (std::size_t i = 0; i < kInputs; ++i) {
    example.input.push_back(rng.Normal());
  }
  example.label = rng.Below(kClasses);
  return example;
}

double Slope(Network& network, double& weight, const Example& example) {
  const double before = weight;
  weight = before + kStep;
  const double above = network.Loss(example);
  weight = before - kStep;
  const double below = network.Loss(example);
  weight = before;
  return (above - below) / (2.0 * kStep);
}

// Every weight of every module against a finite difference.
TEST(Network, BackpropagationIsTheSlopeOfTheLoss) {
  Rng rng(3);
  Network network(1.0, rng);
  const Example example = SomeExample(rng);
  Network gradient = network;
  gradient.SetZero();
  network.AddGradient(example, std::vector<bool>(kModules, true), &gradient);
  for (std::size_t m = 0; m < kModules; ++m) {
    Dense& dense = network.module(m);
    for (std::size_t i = 0; i < dense.weights.size(); ++i) {
      EXPECT_NEAR(gradient.module(m).weights[i],
                  Slope(network, dense.weights[i], example), 1e-7)
          << ModuleNames()[m] << " weight " << i;
    }
    for (std::size_t i = 0; i < dense.bias.size(); ++i) {
      EXPECT_NEAR(gradient.module(m).bias[i],
                  Slope(network, dense.bias[i], example), 1e-7)
          << ModuleNames()[m] << " bias " << i;
    }
  }
}

TEST(Network, FrozenModulesGetNoGradientAndOthersTheSame) {
  Rng rng(4);
  const Network network(1.0, rng);
  const Example example = SomeExample(rng);
  Network all = network;
  all.SetZero();
  Network some = all;
  std::vector<bool> trains(kModules, true);
  network.AddGradient(example, trains, &all);
  trains[0] = trains[1] = trains[4] = false;
  network.AddGradient(example, trains, &some);
  for (std::size_t m = 0; m < kModules; ++m) {
    const Vector frozen(all.module(m).weights.size());
    EXPECT_EQ(some.module(m).weights,
              trains[m] ? all.module(m).weights : frozen)
        << ModuleNames()[m];
  }
}

}  // namespace
}  // namespace frostline::demo_trainer
