// SPDX-License-Identifier: Apache-2.0
#include "base/request_id.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/fake_clock.h"

namespace frostline {
namespace {

TEST(RequestId, IsNeverDrawnTwice) {
  const FakeClock clock;
  std::set<std::string> drawn;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(drawn.insert(NewRequestId(clock)).second);
  }
}

TEST(RequestId, DrawnLaterSortsLater) {
  FakeClock clock;
  std::string last = NewRequestId(clock);
  for (int i = 0; i < 1000; ++i) {
    clock.Advance(std::chrono::milliseconds(37));
    const std::string next = NewRequestId(clock);
    EXPECT_LT(last, next);
    EXPECT_EQ(next.size(), 32u);
    last = next;
  }
}

}  // namespace
}  // namespace frostline
