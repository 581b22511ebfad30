// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline {
namespace {

using ::testing::ElementsAre;

constexpr std::array kBounds = {1.0, 10.0};

TEST(MetricsTest, CountsAValueInTheFirstBucketThatHoldsIt) {
  Histogram histogram(kBounds);
  for (const double value : {0.5, 1.0, 7.0, 70.0}) histogram.Observe(value);
  EXPECT_THAT(histogram.Counts(), ElementsAre(2, 1, 1));
  EXPECT_EQ(histogram.Count(), 4);
  EXPECT_DOUBLE_EQ(histogram.Sum(), 78.5);
}

TEST(MetricsTest, ObservesTimesInSeconds) {
  Histogram histogram(kBounds);
  histogram.Observe(std::chrono::milliseconds(2500));
  EXPECT_THAT(histogram.Counts(), ElementsAre(0, 1, 0));
  EXPECT_DOUBLE_EQ(histogram.Sum(), 2.5);
}

TEST(MetricsTest, LosesNothingThatThreadsCountAtATime) {
  Counter counter;
  Histogram histogram(kBounds);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10'000; ++n) {
        counter.Add();
        histogram.Observe(2.0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.value(), 40'000);
  EXPECT_THAT(histogram.Counts(), ElementsAre(0, 40'000, 0));
}

}  // namespace
}  // namespace frostline
