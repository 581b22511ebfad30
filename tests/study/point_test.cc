// SPDX-License-Identifier: Apache-2.0
#include "gtest/gtest.h"
#include "study/space.h"

namespace frostline {
namespace {

TEST(Point, AbsentEqualsAbsent) {
  EXPECT_TRUE(SamePoint({1, kAbsent}, {1, kAbsent}));
  EXPECT_FALSE(SamePoint({1, kAbsent}, {1, 0}));
  EXPECT_FALSE(SamePoint({1}, {1, 0}));
}

TEST(Point, EqualPointsHaveEqualHashes) {
  EXPECT_EQ(HashPoint({0.0, kAbsent}), HashPoint({-0.0, -kAbsent}));
  EXPECT_NE(HashPoint({0.0, 1.0}), HashPoint({1.0, 0.0}));
}

}  // namespace
}  // namespace frostline
