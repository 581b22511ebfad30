// SPDX-License-Identifier: Apache-2.0
#include "statistics/seed_luck.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"

namespace frostline::statistics {
namespace {

constexpr std::size_t kPoints = 300, kSeeds = 40;

// Each point runs with seeds 1 and 2 and three others, none with all.
std::vector<PointRun> ManySeeds() {
  std::vector<PointRun> runs;
  for (std::size_t p = 0; p < kPoints; ++p) {
    for (std::size_t i = 0; i < 5; ++i) {
      const std::size_t seed = i < 2 ? i : 2 + (7 * p + 11 * i) % (kSeeds - 2);
      const auto of_seed = static_cast<double>(seed);
      const double rest = std::sin(static_cast<double>(13 * p + 5 * i));
      runs.push_back({p, seed + 1,
                      .5 + .001 * static_cast<double>(p) +
                          .1 * std::cos(of_seed) + .01 * rest});
    }
  }
  return runs;
}

// Where the sum of squares is least, what is left of a seed's runs is its luck
// times w, which is one number for all seeds.
TEST(SeedLuck, OfManySeedsIsWhereTheSquaresAreLeast) {
  const std::vector<PointRun> runs = ManySeeds();
  const SeedLuck luck = FindSeedLuck(kPoints, runs);
  std::vector<double> scores(kPoints), left(kSeeds), lucks(kSeeds);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    scores[runs[r].point] += (runs[r].value - luck.of_run[r]) / 5;
    lucks[runs[r].seed - 1] = luck.of_run[r];
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    left[runs[r].seed - 1] +=
        runs[r].value - luck.of_run[r] - scores[runs[r].point];
  }
  const double weight = left[0] / lucks[0];
  EXPECT_GT(weight, 0.0);
  for (std::size_t s = 0; s < kSeeds; ++s) {
    EXPECT_NEAR(left[s], weight * lucks[s], 1e-9) << s;
  }
}

TEST(SeedLuck, IsThatOfTheSeedAndNotOfThePoint) {
  const std::vector<PointRun> runs = ManySeeds();
  const SeedLuck luck = FindSeedLuck(kPoints, runs);
  EXPECT_EQ(luck.seeds, kSeeds);
  double mean = 0.0;
  for (std::size_t s = 0; s < kSeeds; ++s) {
    mean += .1 * std::cos(static_cast<double>(s)) / kSeeds;
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const double true_luck =
        .1 * std::cos(static_cast<double>(runs[r].seed - 1)) - mean;
    EXPECT_NEAR(luck.of_run[r], true_luck, .01) << runs[r].seed;
  }
}

}  // namespace
}  // namespace frostline::statistics
