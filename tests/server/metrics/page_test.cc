// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/page.h"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <future>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PageTest, WritesAMetricWithHelpTypeAndLabels) {
  MetricsPage page;
  page.Set("frostline_trials", 7.0, {{"state", "QUEUED"}});
  EXPECT_EQ(page.Text(),
            "# HELP frostline_trials Trials\n"
            "# TYPE frostline_trials gauge\n"
            "frostline_trials{state=\"QUEUED\"} 7\n");
}

TEST(PageTest, CumulatesAHistogram) {
  Histogram seconds;
  seconds.Observe(0.001);
  seconds.Observe(300.0);
  MetricsPage page;
  page.Set("frostline_commit_seconds", seconds);
  const std::string text = page.Text();
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"0.0005\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"0.001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"120\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("frostline_commit_seconds_sum 300.001\n"));
}

TEST(PageTest, QuotesAHostileLabel) {
  MetricsPage page;
  page.Set("frostline_study_trials", 1.0,
           {{"study", "a\"}\nforged 1"}, {"state", "QUEUED"}});
  EXPECT_THAT(page.Text(), Not(HasSubstr("\nforged")));
}

TEST(PageTest, KnowsItsProcess) {
  MetricsPage page;
  WriteProcess(page);
  for (const char* const name :
       {"process_resident_memory_bytes", "process_open_fds", "process_max_fds",
        "process_cpu_seconds_total", "process_start_time_seconds",
        "process_threads"}) {
    EXPECT_THAT(page.Text(), HasSubstr(std::string("\n") + name + " "));
  }
}

TEST(CatalogueTest, HasMoreThanThirtyAndEachOnce) {
  std::set<std::string> names;
  for (const MetricKind& kind : AllMetrics()) names.insert(kind.name);
  EXPECT_EQ(names.size(), AllMetrics().size());
  EXPECT_GE(names.size(), 30U);
  EXPECT_EQ(FindMetric("frostline_no_such"), nullptr);
}

TEST(CatalogueTest, NamesSayWhatKindTheyAre) {
  for (const MetricKind& kind : AllMetrics()) {
    EXPECT_EQ(absl::EndsWith(kind.name, "_total"),
              kind.type == MetricType::kCounter)
        << kind.name;
    EXPECT_THAT(kind.help, Not(HasSubstr("\n")));
  }
}

TEST(CatalogueTest, IsWhatTheReferenceSays) {
  std::ostringstream text;
  text << std::ifstream(std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                        "/docs/reference/metrics.md")
              .rdbuf();
  for (const MetricKind& kind : AllMetrics()) {
    EXPECT_THAT(text.str(), HasSubstr(absl::StrCat(
                                "\n| `", kind.name, "` | ", NameOf(kind.type),
                                " | ", kind.labels, " | ", kind.help, " |\n")));
  }
}

TEST(CatalogueTest, NoLabelNamesATrialOrAWorker) {
  for (const MetricKind& kind : AllMetrics()) {
    for (const char* const label : {"trial", "worker", "attempt", "peer"}) {
      EXPECT_THAT(kind.labels, Not(HasSubstr(label))) << kind.name;
    }
  }
}

PageText AskOf(PageMaker& scribe) {
  std::promise<PageText> promise;
  scribe.Ask([&promise](const PageText& page) { promise.set_value(page); });
  return promise.get_future().get();
}

TEST(PageMakerTest, GivesACrowdOnePage) {
  const FakeClock clock;
  PageMaker scribe([](MetricsPage& page) { page.Set("frostline_slots", 3.0); },
                   clock);
  const PageText first = AskOf(scribe);
  EXPECT_THAT(*first, HasSubstr("frostline_slots 3\n"));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(AskOf(scribe), first);
  EXPECT_EQ(scribe.made(), 1);
}

TEST(PageMakerTest, MakesAnotherPageAfterAQuarterOfASecond) {
  FakeClock clock;
  PageMaker scribe([](MetricsPage&) {}, clock);
  const PageText first = AskOf(scribe);
  clock.Advance(PageMaker::kKept);
  EXPECT_NE(AskOf(scribe), first);
  EXPECT_EQ(scribe.made(), 2);
}

TEST(PageMakerTest, TellsWhoStillWaitsThatItIsOver) {
  const FakeClock clock;
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int> without = 0;
  {
    PageMaker scribe(
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
