// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/numbers.h"

#include <cmath>

#include "gmock/gmock.h"

namespace frostline::importance {
namespace {

TEST(ShareInterval, IsAroundTheValueAndInsideItsRange) {
  const Interval interval = ShareInterval(0.5, {0.1, 0.2, 0.3});
  EXPECT_EQ(interval.value, 0.5);
  EXPECT_NEAR(interval.lo80, 0.42, 1e-12);
  EXPECT_NEAR(interval.hi95, 0.595, 1e-12);
  EXPECT_EQ(ShareInterval(0.01, {0.0, 0.1, 0.2}).lo95, 0.0);
  EXPECT_EQ(ShareInterval(0.3, {}).hi95, 0.3);
}

TEST(IntervalOfDraws, HasTheDrawsButIsNeverShortOfTheValue) {
  const Interval interval = IntervalOfDraws(0.2, {0.4, 0.0, 0.1, 0.3, 0.2});
  EXPECT_EQ(interval.value, 0.2);
  EXPECT_NEAR(interval.lo80, 0.04, 1e-12);
  EXPECT_NEAR(interval.hi95, 0.39, 1e-12);
  EXPECT_EQ(IntervalOfDraws(0.5, {0.1, 0.2}).hi80, 0.5);
  EXPECT_EQ(IntervalOfDraws(0.05, {0.1, 0.2}).lo95, 0.05);
  EXPECT_EQ(IntervalOfDraws(0.5, {}).lo95, 0.5);
}

// Exact: Student's distribution integrated and inverted.
TEST(StudentQuantile, AgreesWithExactValues) {
  constexpr double k80 = 1.281552, k95 = 1.959964;
  EXPECT_NEAR(StudentQuantile(k80, 5), 1.47588, 2e-4);
  EXPECT_NEAR(StudentQuantile(k95, 5), 2.57058, 3e-3);
  EXPECT_NEAR(StudentQuantile(k80, 9), 1.38303, 2e-5);
  EXPECT_NEAR(StudentQuantile(k95, 9), 2.26216, 3e-4);
  EXPECT_NEAR(StudentQuantile(-k95, 30), -2.04227, 1e-5);
}

TEST(RankByFalling, GivesEveryValueItsOwnRank) {
  EXPECT_THAT(RankByFalling({0.1, 0.5, 0.1}), testing::ElementsAre(2, 1, 3));
}

TEST(LogChiSquaredTail, AgreesWithTables) {
  EXPECT_NEAR(std::exp(LogChiSquaredTail(12.592, 6)), 0.05, 0.002);
  EXPECT_NEAR(std::exp(LogChiSquaredTail(22.458, 6)), 0.001, 0.0001);
  EXPECT_LT(LogChiSquaredTail(1e6, 6), -1e3);
}

}  // namespace
}  // namespace frostline::importance
