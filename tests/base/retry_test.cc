// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "gtest/gtest.h"

namespace frostline {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, GrowsToItsCeilingAndStartsSmallAfterSuccess) {
  Backoff backoff(milliseconds(100), milliseconds(800));
  Rng rng(1);
  Duration longest{};
  for (int i = 0; i < 200; ++i) {
    const Duration wait = backoff.Next(rng);
    EXPECT_GT(wait, Duration::zero());
    longest = std::max(longest, wait);
  }
  EXPECT_LE(longest, milliseconds(800));
  EXPECT_GT(longest, milliseconds(700));
  backoff.Reset();
  EXPECT_LE(backoff.Next(rng), milliseconds(100));
}

TEST(Jitter, StaysWithinItsSpread) {
  Rng rng(2);
  for (int i = 0; i < 1000; ++i) {
    const Duration wait = Jitter(milliseconds(1000), 0.2, rng);
    EXPECT_GE(wait, milliseconds(800));
    EXPECT_LE(wait, milliseconds(1200));
  }
}

}  // namespace
}  // namespace frostline
