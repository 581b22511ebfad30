// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/noise_variance.h"

#include <cmath>

#include "base/rng.h"
#include "gtest/gtest.h"

namespace frostline::importance {
namespace {

// Runs of points 0, 1, 2, …
struct Runs {
  std::vector<Point> points;
  std::vector<double> losses;
  std::vector<std::uint64_t> seeds;

  void Add(double x, double loss, std::uint64_t seed) {
    points.push_back({x});
    losses.push_back(loss);
    seeds.push_back(seed);
  }
  RepeatNoise Noise() const {
    std::vector<const Point*> pointers;
    for (const Point& point : points) pointers.push_back(&point);
    return NoiseAtEqualPoints(pointers, losses, seeds);
  }
};

TEST(RepeatNoise, IsPooledOverThePointsThatWereRepeated) {
  Runs runs;
  runs.Add(0, 1.0, 1);
  runs.Add(0, 3.0, 2);  // squares 2, one free
  runs.Add(1, 5.0, 1);
  runs.Add(1, 5.0, 2);
  runs.Add(1, 8.0, 3);  // squares 6, two free
  runs.Add(2, 100.0, 1);
  EXPECT_DOUBLE_EQ(runs.Noise().variance, 8.0 / 3.0);
  EXPECT_DOUBLE_EQ(runs.Noise().freedom, 3.0);
}

TEST(RepeatNoise, FindsTheVarianceOfSeedsWhateverThePointsEffects) {
  Rng rng(5, 0);
  Runs runs;
  for (int point = 0; point < 400; ++point) {
    const double effect = 10.0 * rng.Uniform();
    for (std::uint64_t run = 1; run <= 3; ++run) {
      runs.Add(point, effect + 0.02 * rng.Normal(), run);
    }
  }
  EXPECT_NEAR(std::sqrt(runs.Noise().variance), 0.02, 0.001);
  EXPECT_EQ(runs.Noise().freedom, 800.0);
}

TEST(RepeatNoise, TheSameRunAgainTellsNothing) {
  Runs runs;
  runs.Add(0, 1.0, 7);
  runs.Add(0, 1.0, 7);  // a retry
  EXPECT_TRUE(std::isnan(runs.Noise().variance));
  EXPECT_EQ(runs.Noise().freedom, 0.0);
  runs.Add(0, 3.0, 8);
  EXPECT_DOUBLE_EQ(runs.Noise().variance, 2.0);
}

TEST(RepeatNoise, AProgramThatIgnoresItsSeedStillShowsItsNoise) {
  Runs runs;
  runs.Add(0, 1.0, 7);
  runs.Add(0, 3.0, 7);
  EXPECT_DOUBLE_EQ(runs.Noise().variance, 2.0);
}

TEST(RepeatNoise, UnknownSeedsAreEqualToNone) {
  Runs runs;
  runs.Add(0, 1.0, 0);
  runs.Add(0, 1.0, 0);
  EXPECT_EQ(runs.Noise().variance, 0.0);
  EXPECT_EQ(runs.Noise().freedom, 1.0);
}

}  // namespace
}  // namespace frostline::importance
