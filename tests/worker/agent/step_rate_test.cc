// SPDX-License-Identifier: Apache-2.0
#include "gtest/gtest.h"
#include "worker/agent/link/lease_keeper.h"

namespace frostline::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr SteadyTime kStart = minutes(5);

TEST(StepRate, IsUnknownBeforeASecondOfTraining) {
  StepRate rate;
  EXPECT_EQ(rate.At(kStart), 0.0);
  rate.Note(1, kStart);
  rate.Note(900, kStart + milliseconds(999));
  EXPECT_EQ(rate.At(kStart + milliseconds(999)), 0.0);
}

TEST(StepRate, IsThatOfTheLastMinute) {
  StepRate rate;
  for (int i = 0; i <= 60; ++i) rate.Note(i, kStart + seconds(i));
  EXPECT_DOUBLE_EQ(rate.At(kStart + seconds(60)), 1.0);
  for (int i = 1; i <= 90; ++i) {
    rate.Note(60 + 10 * i, kStart + seconds(60 + i));
  }
  EXPECT_DOUBLE_EQ(rate.At(kStart + seconds(150)), 10.0);
}

// 2,000 reports a second, as the protocol allows.
TEST(StepRate, IsRightHoweverOftenItIsTold) {
  StepRate rate;
  for (int i = 0; i <= 20'000; ++i) {
    rate.Note(i, kStart + i * std::chrono::microseconds(500));
  }
  EXPECT_NEAR(rate.At(kStart + seconds(10)), 2'000.0, 1.0);
}

TEST(StepRate, StepsOfMinutesAreJudgedByTheLastTwo) {
  StepRate rate;
  rate.Note(1, kStart);
  rate.Note(2, kStart + minutes(2));
  rate.Note(4, kStart + minutes(4));
  EXPECT_DOUBLE_EQ(rate.At(kStart + minutes(4)), 2.0 / 120);
}

TEST(StepRate, FallsOnceNoStepHasComeForAMinute) {
  StepRate rate;
  rate.Note(0, kStart);
  rate.Note(60, kStart + minutes(1));
  EXPECT_DOUBLE_EQ(rate.At(kStart + minutes(2)), 1.0);
  EXPECT_DOUBLE_EQ(rate.At(kStart + minutes(11)), 0.1);
}

// Where it goes on from is no speed.
TEST(StepRate, AnAttemptThatGoesOnBeginsAtItsOwnFirstStep) {
  StepRate rate;
  rate.Note(5'000, kStart);
  rate.Note(5'010, kStart + seconds(10));
  EXPECT_DOUBLE_EQ(rate.At(kStart + seconds(10)), 1.0);
}

}  // namespace
}  // namespace frostline::agent
