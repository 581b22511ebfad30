// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include "gtest/gtest.h"

namespace frostline {
namespace {

TEST(Clock, FormatsWallTimeToTheMicrosecond) {
  EXPECT_EQ(FormatWall(1'767'225'600'000'001), "2026-01-01T00:00:00.000001Z");
  EXPECT_EQ(FormatWall(0), "1970-01-01T00:00:00.000000Z");
}

TEST(Clock, SteadyTimeDoesNotGoBack) {
  const SystemClock clock;
  const SteadyTime before = clock.Steady();
  EXPECT_LE(before, clock.Steady());
}

}  // namespace
}  // namespace frostline
