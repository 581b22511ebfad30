// SPDX-License-Identifier: Apache-2.0
#include "surrogate/saturation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/surrogate/level_rows.h"

namespace frostline::surrogate {
namespace {

// How far below the best value the end lies, in ranges of the values.
double DistanceOf(const Rows& rows) {
  const auto [best, worst] =
      std::minmax_element(rows.values.begin(), rows.values.end());
  return (*best - FindSaturation(rows).end()) / (*worst - *best);
}

double SumOfSteps(const Cells& cells) {
  return 0.5 * cells[0] + 0.3 * cells[1] + 0.4 * cells[2];
}

TEST(Saturation, GivesBackWhatItWasGiven) {
  const Saturation saturation(-2.0);
  for (const double value : {-1.999, 0.0, 40.0}) {
    EXPECT_NEAR(saturation.Back(saturation.Forward(value)), value, 1e-12);
  }
}

TEST(Saturation, KnowsTheMeanOfWhatIsUnsure) {
  const Saturation saturation(1.0);
  EXPECT_NEAR(saturation.MeanBack(0.0, 0.5), 1.0 + std::exp(0.25), 1e-12);
}

TEST(Saturation, LiesFarFromValuesThatAddUp) {
  const Rows rows = UniformRows(3, 4, 100, 0.05, 1, SumOfSteps);
  EXPECT_GT(DistanceOf(rows), 1.0);
}

TEST(Saturation, LiesNearToValuesThatMultiply) {
  const Rows rows = UniformRows(3, 4, 100, 0.0, 2, [](const Cells& cells) {
    return std::exp(2.0 * SumOfSteps(cells));
  });
  EXPECT_LT(DistanceOf(rows), 0.1);
}

TEST(Saturation, LiesBelowEveryValueSeen) {
  Rows rows = UniformRows(3, 4, 200, 0.3, 3, SumOfSteps);
  const double best = *std::min_element(rows.values.begin(), rows.values.end());
  EXPECT_LT(FindSaturation(rows).end(), best);
}

TEST(Saturation, StaysFiniteAtItsBound) {
  Rows rows = UniformRows(3, 4, 50, 0.0, 4, [](const Cells& cells) {
    return std::max(SumOfSteps(cells) - 1.0, 0.0);
  });
  const Saturation saturation = FindSaturation(rows, {.bound = 0.0});
  EXPECT_TRUE(std::isfinite(saturation.Forward(0.0)));
  EXPECT_LT(saturation.end(), 0.0);
  EXPECT_GT(saturation.end(), -0.1);
}

TEST(Saturation, ComesNoNearerThanItMay) {
  const Rows rows = UniformRows(3, 4, 100, 0.0, 2, [](const Cells& cells) {
    return std::exp(2.0 * SumOfSteps(cells));
  });
  const double far = FindSaturation(rows, {.nearest = 3.0}).end();
  EXPECT_LT(far, FindSaturation(rows).end());
}

TEST(Saturation, OfValuesThatAreAllEqualIsFiniteToo) {
  Rows rows = UniformRows(3, 4, 20, 0.0, 5, SumOfSteps);
  for (double& value : rows.values) value = 0.7;
  EXPECT_TRUE(std::isfinite(FindSaturation(rows).Forward(0.7)));
}

}  // namespace
}  // namespace frostline::surrogate
