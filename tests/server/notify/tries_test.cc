// SPDX-License-Identifier: Apache-2.0
#include "server/notify/tries.h"

#include "gtest/gtest.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr WallMicros kEnded = 1'767'225'600'000'000;

TEST(PauseAfter, DoublesFromTryToTryGiveOrTakeAHalf) {
  Rng rng(1);
  Duration mean = seconds(2);
  for (int tries = 1; tries <= 8; ++tries, mean *= 2) {
    const auto pause = PauseAfter(tries, kEnded, kEnded, {}, rng);
    ASSERT_TRUE(pause.has_value());
    EXPECT_GE(*pause, mean / 2) << tries;
    EXPECT_LE(*pause, mean + mean / 2) << tries;
  }
}

TEST(PauseAfter, GrowsNoLongerThanItsBound) {
  Rng rng(1);
  for (const int tries : {20, 1'000, 2'000'000'000}) {
    const auto pause = PauseAfter(tries, kEnded, kEnded, {}, rng);
    ASSERT_TRUE(pause.has_value());
    EXPECT_LE(*pause, minutes(90));
  }
}

TEST(PauseAfter, DiffersBetweenThoseThatFailedTogether) {
  Rng rng(1);
  EXPECT_NE(PauseAfter(3, kEnded, kEnded, {}, rng),
            PauseAfter(3, kEnded, kEnded, {}, rng));
}

TEST(PauseAfter, IsNothingADayAfterTheEnd) {
  Rng rng(1);
  const TryRules rules;
  const WallMicros day = rules.give_up / std::chrono::microseconds(1);
  EXPECT_TRUE(PauseAfter(1, kEnded, kEnded + day / 2, rules, rng));
  EXPECT_FALSE(PauseAfter(1, kEnded, kEnded + day, rules, rng));
}

TEST(PauseAfter, GoesOnWhenTheDateIsSetBack) {
  Rng rng(1);
  const TryRules rules{.first = milliseconds(1)};
  EXPECT_TRUE(PauseAfter(1, kEnded, kEnded - 86'400'000'000, rules, rng));
}

}  // namespace
}  // namespace frostline::server
