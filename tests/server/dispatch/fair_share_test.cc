// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/fair_share.h"

#include "gtest/gtest.h"

namespace frostline::server {
namespace {

constexpr SteadyTime At(int seconds) {
  return std::chrono::seconds(1000 + seconds);
}

TEST(FairShareTest, ServiceIsTheTimeThatTrialsTook) {
  FairShare share;
  share.Began({1, 0}, At(0));
  share.Ended({1, 0}, At(60));
  EXPECT_DOUBLE_EQ(share.ServiceOf(1, At(90)), 60.0);
}

TEST(FairShareTest, ATrialIsChargedWhenItBegins) {
  FairShare share;
  share.Began({1, 0}, At(0));
  share.Ended({1, 0}, At(60));
  share.Began({1, 1}, At(60));
  EXPECT_DOUBLE_EQ(share.ServiceOf(1, At(60)), 60.0 + 60.0);
}

TEST(FairShareTest, OneThatRunsLongerThanUsualIsChargedAsItRuns) {
  FairShare share;
  share.Began({1, 0}, At(0));
  EXPECT_DOUBLE_EQ(share.ServiceOf(1, At(100)), 100.0);
}

TEST(FairShareTest, AFirstTrialIsExpectedToTakeWhatOthersTake) {
  FairShare share;
  share.Began({1, 0}, At(0));
  share.Ended({1, 0}, At(60));
  share.Began({2, 0}, At(60));
  EXPECT_DOUBLE_EQ(share.ServiceOf(2, At(60)), 60.0);
}

TEST(FairShareTest, ANewcomerStartsLevelWithTheLeastOfThoseThatCompete) {
  FairShare share;
  share.Began({1, 0}, At(0));
  share.Began({2, 0}, At(0));
  share.Ended({2, 0}, At(40));
  share.BeginLook();
  share.Compete(1, {}, At(60));
  share.Compete(2, {}, At(60));
  share.BeginLook();
  share.BeginLook();
  EXPECT_DOUBLE_EQ(share.Compete(3, {}, At(60)), 40.0);
}

TEST(FairShareTest, WhoKeepsCompetingKeepsWhatItLacks) {
  FairShare share;
  share.Began({1, 0}, At(0));
  for (const int second : {0, 60}) {
    share.BeginLook();
    share.Compete(1, {}, At(second));
    EXPECT_DOUBLE_EQ(share.Compete(2, {}, At(second)), 0.0);
  }
}

TEST(FairShareTest, NobodyPaysForWhatWasUsedElsewhere) {
  FairShare share;
  share.Began({1, 0}, At(0));
  share.BeginLook();
  share.Compete(1, {.priority = 5}, At(60));
  share.Compete(1, {.labels = "gpu"}, At(60));
  share.BeginLook();
  share.BeginLook();
  EXPECT_DOUBLE_EQ(share.Compete(2, {}, At(60)), 0.0);
  EXPECT_DOUBLE_EQ(share.Compete(3, {.labels = "cpu"}, At(60)), 0.0);
  EXPECT_DOUBLE_EQ(share.Compete(4, {.labels = "gpu"}, At(60)), 60.0);
}

TEST(FairShareTest, ATrialThatNobodyBeganIsPassedOver) {
  FairShare share;
  share.Ended({1, 0}, At(60));
  share.Began({1, 1}, At(0));
  share.Ended({1, 0}, At(60));
  EXPECT_DOUBLE_EQ(share.ServiceOf(1, At(5)), 5.0);
}

}  // namespace
}  // namespace frostline::server
