// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <limits>

#include "gtest/gtest.h"
#include "proto/wire_values.h"

namespace frostline::proto {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;

google::protobuf::Duration Of(std::int64_t whole, std::int32_t nanos = 0) {
  google::protobuf::Duration proto;
  proto.set_seconds(whole);
  proto.set_nanos(nanos);
  return proto;
}

// The longest that the contract takes is the lifetime of a token, ten years.
TEST(WireTimeTest, YearsComeBackAsTheyWere) {
  for (const Duration one :
       {Duration(1), Duration(seconds(30)), Duration(hours(25)),
        Duration(hours(24 * 90)), Duration(hours(24 * 3650))}) {
    EXPECT_EQ(DurationFromProto(DurationToProto(one)), one) << one.count();
    EXPECT_EQ(DurationFromProto(DurationToProto(-one)), -one) << one.count();
  }
}

TEST(WireTimeTest, WhatWouldOverflowIsAHundredYears) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(DurationFromProto(Of(kMost)), hours(24 * 36'500));
  EXPECT_EQ(DurationFromProto(Of(-kMost)), -hours(24 * 36'500));
}

TEST(WireTimeTest, WhatIsMalformedIsNegative) {
  for (const auto& one : {Of(1, -1), Of(-1, 1), Of(0, 1'000'000'000)}) {
    EXPECT_EQ(DurationFromProto(one), nanoseconds(-1));
  }
}

}  // namespace
}  // namespace frostline::proto
