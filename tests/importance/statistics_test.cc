// SPDX-License-Identifier: Apache-2.0
#include "importance/statistics.h"

#include <cmath>

#include "gmock/gmock.h"

namespace frostline {
namespace {

TEST(Quantile, InterpolatesBetweenSortedValues) {
  EXPECT_EQ(Quantile({3, 1, 2}, 0.5), 2.0);
  EXPECT_EQ(Quantile({3, 1, 2}, 0.75), 2.5);
  EXPECT_EQ(Quantile({7}, 0.9), 7.0);
}

TEST(ShareInterval, IsAroundTheValueAndInsideItsRange) {
  const Interval interval = ShareInterval(0.5, {0.1, 0.2, 0.3});
  EXPECT_EQ(interval.value, 0.5);
  EXPECT_NEAR(interval.lo80, 0.42, 1e-12);
  EXPECT_NEAR(interval.hi95, 0.595, 1e-12);
  EXPECT_EQ(ShareInterval(0.01, {0.0, 0.1, 0.2}).lo95, 0.0);
  EXPECT_EQ(ShareInterval(0.3, {}).hi95, 0.3);
}

TEST(RankCorrelation, SeesOrderAndNotSize) {
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {0, 5, 1e9}), 1.0);
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {3, 2, 1}), -1.0);
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {4, 4, 4}), 0.0);
  EXPECT_NEAR(RankCorrelation({1, 2, 3, 4}, {1, 1, 2, 2}), 0.894427, 1e-6);
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
}  // namespace frostline
