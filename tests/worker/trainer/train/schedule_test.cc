// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/schedule.h"

#include <gtest/gtest.h>

namespace frostline::trainer {
namespace {

TEST(Schedule, LinearWarmsUpFromZeroAndEndsAtZero) {
  const Schedule schedule = {ScheduleKind::kLinear, 2, 10};
  EXPECT_EQ(schedule.FactorAt(0), 0.0);
  EXPECT_EQ(schedule.FactorAt(1), 0.5);
  EXPECT_EQ(schedule.FactorAt(2), 1.0);
  EXPECT_EQ(schedule.FactorAt(6), 0.5);
  EXPECT_EQ(schedule.FactorAt(10), 0.0);
  EXPECT_EQ(schedule.FactorAt(11), 0.0);
}

TEST(Schedule, ConstantStaysUp) {
  const Schedule schedule = {ScheduleKind::kConstant, 4, 10};
  EXPECT_EQ(schedule.FactorAt(1), 0.25);
  EXPECT_EQ(schedule.FactorAt(4), 1.0);
  EXPECT_EQ(schedule.FactorAt(99), 1.0);
}

TEST(Schedule, CosineIsHalfWayDownHalfWayThrough) {
  const Schedule schedule = {ScheduleKind::kCosine, 2, 10};
  EXPECT_EQ(schedule.FactorAt(2), 1.0);
  EXPECT_NEAR(schedule.FactorAt(6), 0.5, 1e-12);
  EXPECT_NEAR(schedule.FactorAt(4), 0.5 * (1.0 + 0.7071067811865476), 1e-12);
  EXPECT_EQ(schedule.FactorAt(10), 0.0);
}

TEST(Schedule, WithoutWarmingUpTheFirstStepHasTheFullRate) {
  const Schedule schedule = {ScheduleKind::kLinear, 0, 4};
  EXPECT_EQ(schedule.FactorAt(0), 1.0);
  EXPECT_EQ(schedule.SumOfFactors(), 1.0 + 0.75 + 0.5 + 0.25);
}

TEST(WarmupSteps, RoundsUp) {
  EXPECT_EQ(WarmupSteps(0.1, 20), 2);
  EXPECT_EQ(WarmupSteps(0.06, 101), 7);
  EXPECT_EQ(WarmupSteps(0.0, 101), 0);
}

}  // namespace
}  // namespace frostline::trainer
