// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/pareto.h"

#include <algorithm>

#include "base/rng.h"
#include "gmock/gmock.h"

namespace frostline {
namespace {

TEST(NonDominationRanks, PeelTheFrontsOff) {
  EXPECT_THAT(NonDominationRanks({{3, 3}, {1, 2}, {2, 1}, {2, 2}, {1, 2}}),
              testing::ElementsAre(2, 0, 0, 1, 0));
}

TEST(Hypervolume, OfStaircasesByHand) {
  EXPECT_DOUBLE_EQ(Hypervolume({{1, 2}, {2, 1}}, {3, 3}), 3.0);
  EXPECT_DOUBLE_EQ(Hypervolume({{1, 2}, {2, 1}, {2, 2}, {5, 0}}, {3, 3}), 3.0);
  EXPECT_DOUBLE_EQ(Hypervolume({{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {2, 2, 2}),
                   7.0);
}

TEST(Hypervolume, AgreesWithCountingPoints) {
  Rng rng(2);
  LossVectors points(6, std::vector<double>(4));
  for (auto& point : points) {
    for (double& value : point) value = rng.Uniform();
  }
  int inside = 0;
  constexpr int kSamples = 40'000;
  for (int i = 0; i < kSamples; ++i) {
    std::vector<double> sample(4);
    for (double& value : sample) value = rng.Uniform();
    inside += std::any_of(points.begin(), points.end(), [&](const auto& point) {
      for (std::size_t m = 0; m < 4; ++m) {
        if (point[m] > sample[m]) return false;
      }
      return true;
    });
  }
  EXPECT_NEAR(Hypervolume(points, {1, 1, 1, 1}), inside / double{kSamples},
              0.0125);
}

TEST(BestByHypervolume, TakesWholeRanksThenWhatAddsMost) {
  // The corner points of the front add less than the middle one.
  const LossVectors losses = {{0, 10}, {10, 0}, {4, 4}, {11, 11}};
  EXPECT_THAT(BestByHypervolume(losses, 1), testing::ElementsAre(2));
  EXPECT_THAT(BestByHypervolume(losses, 4),
              testing::UnorderedElementsAre(0, 1, 2, 3));
}

}  // namespace
}  // namespace frostline
