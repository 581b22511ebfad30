// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "gtest/gtest.h"
#include "server/auth/access.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;

TEST(CallRatesTest, ABurstPassesThenTheRate) {
  CallRates rates({.calls_per_s = 2.0, .burst = 4.0});
  const SteadyTime start{};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(rates.Take("ana", start));
  EXPECT_FALSE(rates.Take("ana", start));
  EXPECT_TRUE(rates.Take("ana", start + milliseconds(500)));
  EXPECT_FALSE(rates.Take("ana", start + milliseconds(600)));
}

TEST(CallRatesTest, OneDoesNotTakeAnothersShare) {
  CallRates rates({.calls_per_s = 1.0, .burst = 1.0});
  EXPECT_TRUE(rates.Take("ana", SteadyTime{}));
  EXPECT_FALSE(rates.Take("ana", SteadyTime{}));
  EXPECT_TRUE(rates.Take("bob", SteadyTime{}));
}

TEST(CallRatesTest, WhoWasQuietIsForgotten) {
  CallRates rates({.calls_per_s = 1'000.0, .burst = 1.0});
  SteadyTime now{};
  for (int i = 0; i < 20'000; ++i) {
    now += milliseconds(1);
    EXPECT_TRUE(rates.Take(std::to_string(i), now));
  }
  EXPECT_LE(rates.size(), 4'097u);
}

}  // namespace
}  // namespace frostline::server
