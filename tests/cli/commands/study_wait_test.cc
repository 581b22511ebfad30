// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "cli/commands/study_watch.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;

TEST(WaitGoalTest, EachIsMetByWhatItSays) {
  v1::Study study;
  study.set_state(v1::STUDY_STATE_ACTIVE);
  study.mutable_counts()->set_succeeded(2);
  study.mutable_counts()->set_failed(1);
  const auto met = [&study](const std::string& text) {
    return IsMet(*ParseGoal(text), study, {0.9});
  };
  EXPECT_TRUE(met("trials=3"));
  EXPECT_FALSE(met("trials=4"));
  EXPECT_TRUE(met("best>=0.9"));
  EXPECT_FALSE(met("best>=0.91"));
  EXPECT_FALSE(met("best<=0.8"));
  EXPECT_FALSE(met("running"));
  EXPECT_FALSE(met("ended"));
  study.mutable_counts()->set_running(1);
  study.set_state(v1::STUDY_STATE_STOPPED);
  EXPECT_TRUE(met("running"));
  EXPECT_TRUE(met("ended"));
}

TEST(WaitGoalTest, NoValueMeetsABound) {
  ASSERT_OK_AND_ASSIGN(const WaitGoal goal, ParseGoal("best<=1"));
  EXPECT_FALSE(IsMet(goal, v1::Study(), {}));
}

TEST(WaitGoalTest, RefusesWhatIsNoGoal) {
  for (const char* const bad : {"", "done", "trials=0", "trials=x", "best>0.9",
                                "best>=", "best>=nan", "best=1"}) {
    EXPECT_TRUE(HasErrorId(ParseGoal(bad).status(), ErrorId::kRequestInvalid))
        << bad;
  }
  EXPECT_THAT(DetailOf(ParseGoal("best").status())->fix, HasSubstr("quote"));
}

TEST(WaitGoalTest, RefusesABoundThatTheWorstWouldMeet) {
  v1::StudySpec spec;
  v1::Objective& objective = *spec.add_objectives();
  objective.set_metric("loss");
  objective.set_direction(v1::DIRECTION_MINIMIZE);
  const absl::Status refused = CheckGoal(*ParseGoal("best>=0.25"), spec);
  EXPECT_THAT(DetailOf(refused)->fix, HasSubstr("'best<=0.25'"));
  EXPECT_OK(CheckGoal(*ParseGoal("best<=0.25"), spec));
}

}  // namespace
}  // namespace frostline::cli
