// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/scribe.h"

#include <atomic>
#include <future>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;

PageText AskOf(Scribe& scribe) {
  std::promise<PageText> promise;
  scribe.Ask([&promise](const PageText& page) { promise.set_value(page); });
  return promise.get_future().get();
}

TEST(ScribeTest, GivesACrowdOnePage) {
  const FakeClock clock;
  Scribe scribe([](MetricsPage& page) { page.Set("frostline_slots", 3.0); },
                clock);
  const PageText first = AskOf(scribe);
  EXPECT_THAT(*first, HasSubstr("frostline_slots 3\n"));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(AskOf(scribe), first);
  EXPECT_EQ(scribe.made(), 1);
}

TEST(ScribeTest, MakesAnotherPageAfterAQuarterOfASecond) {
  FakeClock clock;
  Scribe scribe([](MetricsPage&) {}, clock);
  const PageText first = AskOf(scribe);
  clock.Advance(Scribe::kKept);
  EXPECT_NE(AskOf(scribe), first);
  EXPECT_EQ(scribe.made(), 2);
}

TEST(ScribeTest, TellsWhoStillWaitsThatItIsOver) {
  const FakeClock clock;
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int> without = 0;
  {
    Scribe scribe(
        [&](MetricsPage&) {
          begun.set_value();
          go_on.get_future().wait();
        },
        clock);
    scribe.Ask([](const PageText&) {});
    begun.get_future().wait();
    scribe.Ask([&without](const PageText& page) {
      if (page == nullptr) ++without;
    });
    // The second waits while the first is measured, and the scribe ends.
    std::thread([&go_on] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      go_on.set_value();
    }).detach();
  }
  EXPECT_EQ(without, 1);
}

}  // namespace
}  // namespace frostline::server
