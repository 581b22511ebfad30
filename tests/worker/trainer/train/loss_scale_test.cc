// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/train/gradients.h"

namespace frostline::trainer {
namespace {

using Verdict = LossScale::Verdict;

TEST(LossScale, IsHalvedByEachOverflowAndDoubledByGoodSteps) {
  LossScale scale({.exponent = 4, .double_after = 3});
  EXPECT_EQ(scale.Judge(false), Verdict::kSkip);
  EXPECT_EQ(scale.value(), 8.0);
  EXPECT_EQ(scale.Judge(true), Verdict::kMove);
  EXPECT_EQ(scale.Judge(true), Verdict::kMove);
  EXPECT_EQ(scale.value(), 8.0);
  EXPECT_EQ(scale.Judge(true), Verdict::kMove);
  EXPECT_EQ(scale.value(), 16.0);
  EXPECT_EQ(scale.skipped(), 1);
}

TEST(LossScale, BeginsAtTwoToTheSixteenAndWaitsForTwoThousand) {
  LossScale scale;
  EXPECT_EQ(scale.value(), 65536.0);
  for (int i = 0; i < 1999; ++i) scale.Judge(true);
  EXPECT_EQ(scale.value(), 65536.0);
  scale.Judge(true);
  EXPECT_EQ(scale.value(), 131072.0);
}

// Below 1 it would make overflows of what fp16 holds.
TEST(LossScale, SaysWhenASmallerOneWouldNotHelp) {
  LossScale scale({.exponent = 1, .double_after = 2});
  EXPECT_EQ(scale.Judge(false), Verdict::kSkip);
  EXPECT_EQ(scale.Judge(false), Verdict::kHopeless);
  EXPECT_EQ(scale.value(), 1.0);
  EXPECT_EQ(scale.skipped(), 1);
}

TEST(LossScale, AnswersAsGradScalerDid) {
  const JsonFixture recorded(
      FixturePath("../../worker/trainer/train/data/fp16.json"));
  const JsonValue& scaler = recorded["scaler"];
  LossScale scale(
      {.exponent = 16, .double_after = *recorded["double_after"].Index()});
  const JsonValue* after = scaler.Find("scales")->first;
  int judged = 0;
  for (const JsonValue* finite = scaler.Find("finite")->first;
       finite != nullptr; finite = finite->next, after = after->next) {
    scale.Judge(finite->truth);
    ASSERT_EQ(scale.value(), after->number) << "after " << ++judged;
  }
}

TEST(LossScale, ComesBackFromItsText) {
  LossScale scale({.exponent = 9, .double_after = 3});
  scale.Judge(false);
  scale.Judge(true);
  LossScale other({.exponent = 16, .double_after = 3});
  ASSERT_TRUE(other.Restore(scale.Print()));
  EXPECT_EQ(other.Print(), "8 1 1");
  other.Judge(true);
  other.Judge(true);
  EXPECT_EQ(other.value(), 512.0);
}

TEST(LossScale, TakesNoOtherText) {
  LossScale scale;
  for (const char* const text :
       {"", "8", "8 1", "8 1 ", "8 1 1 1", "8 1 1x", "-1 0 0", "128 0 0",
        "8  1 1", "1e3 0 0", "99999999999999999999 0 0"}) {
    EXPECT_FALSE(scale.Restore(text)) << text;
  }
  EXPECT_EQ(scale.value(), 65536.0);
}

}  // namespace
}  // namespace frostline::trainer
