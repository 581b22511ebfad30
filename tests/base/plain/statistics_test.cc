// SPDX-License-Identifier: Apache-2.0
#include "base/plain/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace frostline {
namespace {

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_EQ(Quantile({7}, 0.99), 7);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Quantile({1, infinity, infinity}, 0.75), infinity);
}

TEST(MeanRanks, EqualValuesShareTheirRank) {
  EXPECT_THAT(MeanRanks({5, 1, 5, 9}), testing::ElementsAre(1.5, 0, 1.5, 3));
}

TEST(MeanRanks, WhatIsNoNumberComesLast) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(MeanRanks({nan, 2, 1}), testing::ElementsAre(2, 1, 0));
  EXPECT_EQ(MeanRanks({nan, 1, nan, 1, nan}).size(), 5u);
}

TEST(RankCorrelation, SeesOrderAndNotSize) {
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {0, 5, 1e9}), 1.0);
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {3, 2, 1}), -1.0);
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {4, 4, 4}), 0.0);
  EXPECT_NEAR(RankCorrelation({1, 2, 2, 3}, {1, 3, 2, 4}), 0.9486832981, 1e-9);
}

}  // namespace
}  // namespace frostline
