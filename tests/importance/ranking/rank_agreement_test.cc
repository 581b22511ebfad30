// SPDX-License-Identifier: Apache-2.0
#include "importance/ranking/rank_agreement.h"

#include <cmath>

#include "gtest/gtest.h"

namespace frostline::importance {
namespace {

TEST(KendallTau, CountsPairsInOrderLessPairsOutOfOrder) {
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {10, 20, 30, 40}), 1.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {4, 3, 2, 1}), -1.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {1, 3, 2, 4}), 4.0 / 6.0);
}

TEST(KendallTau, LeavesTiesOutOfEitherSidesPairs) {
  // Five pairs in order, one is tied in a alone.
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 2, 3}, {1, 2, 3, 4}),
                   5.0 / std::sqrt(5.0 * 6.0));
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 2}, {5, 5, 9}), 1.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 1}, {1, 2, 3}), 0.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 1}, {2, 2, 2}), 1.0);
}

TEST(IsOrderChanged, OnlyWhereTheLowerOneHasClearlyMore) {
  const std::vector<double> ranked = {0.5, 0.3, 0.2};
  EXPECT_FALSE(IsOrderChanged(ranked, {0.5, 0.3, 0.2}));
  EXPECT_FALSE(IsOrderChanged(ranked, {0.37, 0.43, 0.2}));  // by a seventh
  EXPECT_TRUE(IsOrderChanged(ranked, {0.35, 0.45, 0.2}));   // by over a fifth
  EXPECT_TRUE(IsOrderChanged(ranked, {0.3, 0.3, 0.4}));
  EXPECT_FALSE(IsOrderChanged({0.9, 0.02, 0.01}, {0.9, 0.001, 0.01}));
}

// Neither neighbour is passed clearly, but the first is by the last.
TEST(IsOrderChanged, ComparesNotNeighboursAlone) {
  EXPECT_TRUE(IsOrderChanged({0.3, 0.2, 0.1}, {0.3, 0.34, 0.4}));
}

TEST(ChanceOfChange, FallsAsDrawsNarrow) {
  const std::vector<double> values = {0.6, 0.4};
  const std::vector<std::vector<double>> draws = {{0.6, 0.4}, {0.3, 0.7}};
  EXPECT_EQ(ChanceOfChange(values, draws, 1.0), 0.5);
  EXPECT_EQ(ChanceOfChange(values, draws, 0.5), 0.0);
  EXPECT_EQ(ChanceOfChange(values, {}, 1.0), 0.0);
}

}  // namespace
}  // namespace frostline::importance
