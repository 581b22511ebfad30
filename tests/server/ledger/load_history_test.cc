// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/load_history.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::server {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr int kNo = MeansOverTime::kNotKnown;
constexpr WallMicros kSecond = 1'000'000;
constexpr WallMicros kMinute = 60 * kSecond;
// A full hour.
constexpr WallMicros kNoon = 472'000 * 60 * kMinute;

std::vector<int> PercentsIn(const std::string& busy) {
  std::vector<int> percents;
  for (const char one : busy) {
    percents.push_back(static_cast<std::uint8_t>(one));
  }
  return percents;
}

v1::NodeLoad LoadWith(const std::string& uuid, std::optional<double> busy) {
  v1::NodeLoad load;
  v1::GpuLoad* const gpu = load.add_gpus();
  gpu->set_uuid(uuid);
  if (busy.has_value()) gpu->set_utilization(*busy);
  return load;
}

TEST(MeansOverTime, AStepHasTheMeanOfWhatWasSaidInIt) {
  MeansOverTime means(minutes(1), 4);
  EXPECT_THAT(PercentsIn(means.Latest(2, kNoon)), ElementsAre(kNo, kNo));
  means.Add(0.4, kNoon + 10 * kSecond);
  means.Add(0.6, kNoon + 50 * kSecond);
  means.Add(1.0, kNoon + 2 * kMinute);
  EXPECT_THAT(PercentsIn(means.Latest(4, kNoon + 2 * kMinute)),
              ElementsAre(kNo, 50, kNo, 100));
  // What comes after the last number is not known, what is older is gone.
  EXPECT_THAT(PercentsIn(means.Latest(3, kNoon + 3 * kMinute)),
              ElementsAre(kNo, 100, kNo));
  means.Add(0.0, kNoon + 4 * kMinute);
  EXPECT_THAT(PercentsIn(means.Latest(9, kNoon + 4 * kMinute)),
              ElementsAre(kNo, 100, kNo, 0));
}

TEST(MeansOverTime, SilenceOfAnyLengthLeavesNothingOld) {
  MeansOverTime means(minutes(1), 3);
  means.Add(0.5, kNoon);
  means.Add(0.7, kNoon + 1000000 * kMinute);
  EXPECT_THAT(PercentsIn(means.Latest(3, kNoon + 1000000 * kMinute)),
              ElementsAre(kNo, kNo, 70));
  EXPECT_THAT(PercentsIn(means.Latest(3, kNoon + 2000000 * kMinute)),
              ElementsAre(kNo, kNo, kNo));
}

TEST(MeansOverTime, AClockThatIsSetBackBeginsAnew) {
  MeansOverTime means(minutes(1), 3);
  means.Add(0.5, kNoon);
  means.Add(0.3, kNoon - kSecond);  // by a little: the same step
  EXPECT_THAT(PercentsIn(means.Latest(1, kNoon)), ElementsAre(40));
  means.Add(0.2, kNoon - 60 * kMinute);
  EXPECT_THAT(PercentsIn(means.Latest(2, kNoon - 60 * kMinute)),
              ElementsAre(kNo, 20));
  EXPECT_THAT(PercentsIn(means.Latest(1, kNoon)), ElementsAre(kNo));
  means.Add(0.1, -kMinute);  // no time at all
  EXPECT_THAT(PercentsIn(means.Latest(2, 0)), ElementsAre(kNo, 10));
}

TEST(LoadBoard, AnHourComesByMinutesAndMoreByQuartersOfAnHour) {
  LoadBoard board;
  for (int k = 0; k < 30; ++k) {
    board.Post("w", LoadWith("GPU-1", k < 15 ? 0.2 : 0.8), kNoon + k * kMinute);
  }
  const WallMicros now = kNoon + 29 * kMinute + 59 * kSecond;
  const auto hour = board.Of("w", hours(1), now);
  ASSERT_TRUE(hour.has_value());
  EXPECT_EQ(hour->step().seconds(), 60);
  EXPECT_EQ(hour->start_time().seconds(), (kNoon - 30 * kMinute) / kSecond);
  ASSERT_THAT(hour->gpus(), SizeIs(1));
  EXPECT_EQ(hour->gpus(0).uuid(), "GPU-1");
  const std::vector<int> fine = PercentsIn(hour->gpus(0).busy());
  ASSERT_THAT(fine, SizeIs(60));
  EXPECT_EQ(fine[29], kNo);
  EXPECT_EQ(fine[30], 20);
  EXPECT_EQ(fine[59], 80);

  const auto day = board.Of("w", hours(24), now);
  ASSERT_TRUE(day.has_value());
  EXPECT_EQ(day->step().seconds(), 900);
  const std::vector<int> coarse = PercentsIn(day->gpus(0).busy());
  ASSERT_THAT(coarse, SizeIs(96));
  EXPECT_EQ(coarse[93], kNo);
  EXPECT_EQ(coarse[94], 20);
  EXPECT_EQ(coarse[95], 80);
  EXPECT_EQ(board.Of("w", hours(24 * 7), now)->gpus(0).busy().size(), 672u);
}

TEST(LoadBoard, WhatNobodySaidIsAbsent) {
  LoadBoard board;
  EXPECT_FALSE(board.Of("w", hours(1), kNoon).has_value());
  board.Post("w", LoadWith("GPU-1", std::nullopt), kNoon);
  EXPECT_FALSE(board.Of("w", hours(1), kNoon).has_value());
  board.Post("w", LoadWith("GPU-1", 0.5), kNoon);
  EXPECT_TRUE(board.Of("w", hours(1), kNoon).has_value());
  EXPECT_FALSE(board.Of("w", hours(0), kNoon).has_value());
  EXPECT_FALSE(board.Of("v", hours(1), kNoon).has_value());
  // An hour later it is known by the day alone.
  EXPECT_FALSE(board.Of("w", hours(1), kNoon + 61 * kMinute).has_value());
  EXPECT_TRUE(board.Of("w", hours(24), kNoon + 61 * kMinute).has_value());
  board.Remove("w");
  EXPECT_FALSE(board.Of("w", hours(24), kNoon).has_value());
}

TEST(LoadBoard, AWorkerThatNamesEverNewGpusTakesNoMoreRoom) {
  LoadBoard board;
  for (int k = 0; k < 1000; ++k) {
    board.Post("w", LoadWith("GPU-" + std::to_string(k), 0.5),
               kNoon + k * kSecond);
  }
  const auto history = board.Of("w", hours(1), kNoon + 1000 * kSecond);
  ASSERT_THAT(history->gpus(), SizeIs(LoadBoard::kMostGpus));
  for (const v1::GpuHistory& gpu : history->gpus()) {
    EXPECT_GE(std::stoi(gpu.uuid().substr(4)), 1000 - 64);
  }
}

}  // namespace
}  // namespace frostline::server
