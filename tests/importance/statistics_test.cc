// SPDX-License-Identifier: Apache-2.0
#include "importance/statistics.h"

#include <cmath>

#include "gmock/gmock.h"

namespace frostline {
namespace {

TEST(ShareInterval, IsAroundTheValueAndInsideItsRange) {
  const Interval interval = ShareInterval(0.5, {0.1, 0.2, 0.3});
  EXPECT_EQ(interval.value, 0.5);
  EXPECT_NEAR(interval.lo80, 0.42, 1e-12);
  EXPECT_NEAR(interval.hi95, 0.595, 1e-12);
  EXPECT_EQ(ShareInterval(0.01, {0.0, 0.1, 0.2}).lo95, 0.0);
  EXPECT_EQ(ShareInterval(0.3, {}).hi95, 0.3);
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
