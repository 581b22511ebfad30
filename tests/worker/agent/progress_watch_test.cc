// SPDX-License-Identifier: Apache-2.0
#include "gmock/gmock.h"
#include "tests/support/fake_clock.h"
#include "worker/agent/trial/trial_run.h"

namespace frostline::agent {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class ProgressWatchTest : public ::testing::Test {
 protected:
  // Looked at every second, as the agent does.
  void Pass(Duration time) {
    for (; time > Duration::zero(); time -= seconds(1)) {
      clock_.Advance(seconds(1));
      watch_.Look(clock_.Steady());
    }
  }
  void Step() { watch_.NoteStep(clock_.Steady()); }

  FakeClock clock_;
  ProgressWatch watch_{minutes(10), clock_.Steady()};
};

TEST_F(ProgressWatchTest, ShortStepsGetTheFloor) {
  for (int i = 0; i < 5; ++i) {
    Pass(seconds(2));
    Step();
  }
  Pass(minutes(10) - seconds(1));
  EXPECT_FALSE(watch_.hangs());
  Pass(seconds(1));
  EXPECT_TRUE(watch_.hangs());
  EXPECT_EQ(watch_.Describe(),
            "no progress for 600 s; steps took 2 s before (suspected hang)");
}

TEST_F(ProgressWatchTest, LongStepsGetTenTimesTheirMedian) {
  Step();
  for (const int took : {5, 5, 5, 60, 1}) {  // an evaluation, and a short one
    Pass(minutes(took));
    Step();
  }
  Pass(minutes(50) - seconds(1));
  EXPECT_FALSE(watch_.hangs());
  Pass(seconds(1));
  EXPECT_TRUE(watch_.hangs());
}

TEST_F(ProgressWatchTest, LoadingAModelTakesLonger) {
  Pass(hours(1) - seconds(1));
  EXPECT_FALSE(watch_.hangs());
  Pass(seconds(1));
  EXPECT_TRUE(watch_.hangs());
  EXPECT_THAT(watch_.Describe(), HasSubstr("before the first step"));
}

TEST_F(ProgressWatchTest, AnyMessageIsASignOfLife) {
  Step();
  Pass(minutes(9));
  watch_.NoteSign(clock_.Steady());
  Pass(minutes(9));
  EXPECT_FALSE(watch_.hangs());
  // It is no step: the next one took both times.
  Step();
  EXPECT_EQ(watch_.patience(), minutes(180));
}

// A laptop was closed, or the agent was stopped: nobody hung.
TEST_F(ProgressWatchTest, TimeNobodyLookedAtDoesNotCount) {
  Step();
  clock_.Advance(hours(8));
  watch_.Look(clock_.Steady());
  EXPECT_FALSE(watch_.hangs());
}

TEST_F(ProgressWatchTest, OffIsOff) {
  ProgressWatch off(Duration::zero(), clock_.Steady());
  for (int i = 0; i < 100'000; ++i) {
    clock_.Advance(seconds(10));
    off.Look(clock_.Steady());
  }
  EXPECT_FALSE(off.hangs());
}

}  // namespace
}  // namespace frostline::agent
