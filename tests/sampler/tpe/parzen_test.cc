// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/parzen.h"

#include <cmath>
#include <numeric>

#include "gtest/gtest.h"

namespace frostline {
namespace {

TEST(FitWeights, TheNewestTwentyFiveCountFully) {
  const auto weights = FitWeights(30, Recency::kForget);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  EXPECT_NEAR(sum, 1.0, 1e-15);
  EXPECT_NEAR(weights[0] / weights[30], 1.0 / 30.0, 1e-15);
  EXPECT_NEAR(weights[4] / weights[30], 1.0, 1e-15);
  EXPECT_LT(weights[3], weights[4]);
  EXPECT_DOUBLE_EQ(weights[5], weights[30]);
  EXPECT_DOUBLE_EQ(FitWeights(30, Recency::kEqual)[0], 1.0 / 31.0);
}

// Two parameters that were good together are drawn together.
TEST(ParzenMixture, KernelsKeepParametersOfOneTrialTogether) {
  const Domain flag = Categorical{{"0", "1"}};
  Columns observed(2);
  for (int i = 0; i < 10; ++i) {
    observed[0].push_back(i % 2);
    observed[1].push_back(i % 2);
  }
  const ParzenMixture mixture({&flag, &flag}, observed, Recency::kEqual, 0.2);
  Rng rng(1);
  const Columns drawn = mixture.Draw(1000, rng);
  int together = 0;
  for (std::size_t c = 0; c < 1000; ++c) together += drawn[0][c] == drawn[1][c];
  EXPECT_GT(together, 700);  // alone they would agree in 500
}

TEST(ParzenMixture, TheJointDensitySumsToOne) {
  const Domain levels = Levels{{0, 1e-5, 1e-4}};
  const Domain choice = Categorical{{"0", "1"}};
  ParzenMixture mixture({&levels, &choice}, {{0, 2, 2}, {1, 0, 0}},
                        Recency::kForget, 0.2);
  const Columns grid = {{0, 0, 1, 1, 2, 2}, {0, 1, 0, 1, 0, 1}};
  double sum = 0.0;
  for (const double density : mixture.LogDensity(grid))
    sum += std::exp(density);
  EXPECT_NEAR(sum, 1.0, 1e-12);
}

TEST(ParzenMixture, WithoutTrialsThePriorIsLeft) {
  const Domain choice = Categorical{{"0", "1", "2", "3"}};
  ParzenMixture mixture({&choice}, {{}}, Recency::kForget, 0.2);
  EXPECT_NEAR(mixture.LogDensity({{2}})[0], std::log(0.25), 1e-15);
}

}  // namespace
}  // namespace frostline
