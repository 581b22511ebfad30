// SPDX-License-Identifier: Apache-2.0
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "worker/agent/link/lease_keeper.h"
#include "worker/agent/trial/trial_run.h"

namespace frostline::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

// What an agent believes of a lease, and tells of it.

class HeldLeaseTest : public ::testing::Test {
 protected:
  HeldLeaseTest() {
    lease_.set_trial("studies/s/trials/1");
    lease_.set_attempt(2);
    held_ = std::make_unique<HeldLease>(
        lease_, RenewalWatch(seconds(60), minutes(30), clock_.Steady()), clock_,
        wakeup_, log_, 3);
  }
  v1::Directive Order(v1::Directive::Action action) {
    v1::Directive directive;
    directive.set_trial(lease_.trial());
    directive.set_attempt(lease_.attempt());
    directive.set_action(action);
    return directive;
  }
  void Pass(Duration time) {
    clock_.Advance(time);
    held_->Judge();
  }

  FakeClock clock_;
  Wakeup wakeup_;
  LogTail log_;
  v1::Lease lease_;
  std::unique_ptr<HeldLease> held_;
};

TEST(RenewalWatch, IsAnOrphanAtNineTenthsOfTheTtl) {
  RenewalWatch watch(seconds(60), minutes(30), seconds(100));
  EXPECT_EQ(watch.At(milliseconds(153'999)), LeaseHealth::kHeld);
  EXPECT_EQ(watch.At(seconds(154)), LeaseHealth::kOrphan);
  EXPECT_EQ(watch.At(seconds(154) + minutes(30) - milliseconds(1)),
            LeaseHealth::kOrphan);
  EXPECT_EQ(watch.At(seconds(154) + minutes(30)), LeaseHealth::kForsaken);
}

TEST(RenewalWatch, CountsFromWhenItWasSent) {
  RenewalWatch watch(seconds(60), minutes(30), seconds(100));
  watch.Renewed(seconds(110));  // answered at 119, it does not matter
  EXPECT_EQ(watch.At(seconds(163)), LeaseHealth::kHeld);
  EXPECT_EQ(watch.At(seconds(164)), LeaseHealth::kOrphan);
  watch.Renewed(seconds(105));  // an older one, answered late
  EXPECT_EQ(watch.At(seconds(163)), LeaseHealth::kHeld);
}

TEST(RenewalWatch, WithoutALimitItTrainsOn) {
  const RenewalWatch watch(seconds(60), Duration::zero(), seconds(0));
  EXPECT_EQ(watch.At(std::chrono::hours(1000)), LeaseHealth::kOrphan);
}

TEST_F(HeldLeaseTest, TellsHowFarItIsAndInWhichSlot) {
  EXPECT_EQ(held_->Progress(true).progress().slot(), 3);
  EXPECT_FALSE(held_->Progress(true).progress().has_remaining());
  held_->NoteStep(100, 400);
  clock_.Advance(seconds(10));
  held_->NoteStep(150, 400);
  held_->NoteProgress({"training", 1.5, 4.0, 90.0});
  clock_.Advance(seconds(30));
  const v1::TrialProgress told = held_->Progress(true).progress();
  EXPECT_EQ(told.phase(), "training");
  EXPECT_EQ(told.epoch(), 1.5);
  EXPECT_EQ(told.total_epochs(), 4.0);
  EXPECT_EQ(told.steps_per_second(), 5.0);
  EXPECT_EQ(told.remaining().seconds(), 60);  // half a minute has passed
}

TEST_F(HeldLeaseTest, WhatRemainsIsNeverLessThanNothing) {
  held_->NoteProgress({"evaluating", 0.0, 0.0, 5.0});
  clock_.Advance(minutes(1));
  const v1::TrialProgress told = held_->Progress(true).progress();
  EXPECT_TRUE(told.has_remaining());
  EXPECT_EQ(told.remaining().seconds(), 0);
  EXPECT_EQ(told.remaining().nanos(), 0);
}

TEST_F(HeldLeaseTest, ANewerWordReplacesTheWholeOfTheOlder) {
  held_->NoteProgress({"training", 1.5, 4.0, 90.0});
  held_->NoteProgress({.phase = "saving"});
  const v1::TrialProgress told = held_->Progress(true).progress();
  EXPECT_EQ(told.phase(), "saving");
  EXPECT_EQ(told.total_epochs(), 0.0);
  EXPECT_FALSE(told.has_remaining());
}

TEST_F(HeldLeaseTest, AnOrphanTrainsForHalfAnHourAndIsThenForsaken) {
  Pass(seconds(54));
  Pass(minutes(29));
  EXPECT_FALSE(held_->forsaken());
  EXPECT_FALSE(wakeup_.WaitFor(Duration::zero()));
  Pass(minutes(1));
  EXPECT_TRUE(held_->forsaken());
  EXPECT_TRUE(wakeup_.WaitFor(Duration::zero()));
}

TEST_F(HeldLeaseTest, ARenewalMakesItWellAgain) {
  Pass(minutes(20));
  held_->Renewed(clock_.Steady());
  Pass(seconds(0));
  Pass(minutes(20));
  EXPECT_FALSE(held_->forsaken());
}

TEST_F(HeldLeaseTest, ALostLeaseIsTheGravestWord) {
  held_->Obey(Order(v1::Directive::LEASE_LOST));
  held_->Obey(Order(v1::Directive::CHECKPOINT_AND_RELEASE));
  EXPECT_EQ(held_->directive().action(), v1::Directive::LEASE_LOST);
  EXPECT_TRUE(wakeup_.WaitFor(Duration::zero()));
}

TEST_F(HeldLeaseTest, TellsItsLogOnceAndOnlyWhenAsked) {
  log_.Append("hello\n");
  EXPECT_EQ(held_->Progress(true).log_tail(), "");
  EXPECT_FALSE(held_->LogDue().has_value());
  held_->WantLog();
  EXPECT_EQ(held_->Progress(false).log_tail(), "");
  EXPECT_EQ(held_->LogDue(), clock_.Steady());
  EXPECT_EQ(held_->Progress(true).log_tail(), "hello\n");
  EXPECT_EQ(held_->Progress(true).log_tail(), "");
}

TEST_F(HeldLeaseTest, TellsThatTheLogIsEmpty) {
  held_->WantLog();
  const v1::LeaseProgress progress = held_->Progress(true);
  EXPECT_TRUE(progress.has_log_end());
  EXPECT_EQ(progress.log_tail(), "");
  EXPECT_FALSE(held_->LogDue().has_value());
}

TEST_F(HeldLeaseTest, WhoFollowsGetsWhatIsNewWhenItComes) {
  Wakeup bell;
  log_.Append("hello\n");
  held_->WantLogAfter(6, &bell);
  EXPECT_FALSE(held_->LogDue().has_value());
  EXPECT_FALSE(held_->Progress(true).has_log_end());
  EXPECT_FALSE(bell.WaitFor(Duration::zero()));
  log_.Append("world\n");
  EXPECT_TRUE(bell.WaitFor(Duration::zero()));
  EXPECT_EQ(held_->LogDue(), clock_.Steady());
  const v1::LeaseProgress progress = held_->Progress(true);
  EXPECT_EQ(progress.log_tail(), "world\n");
  EXPECT_EQ(progress.log_end(), 12);
  EXPECT_FALSE(held_->LogDue().has_value());
}

TEST_F(HeldLeaseTest, WhoFollowsAChattyTrainerGetsAPieceEachHalfSecond) {
  Wakeup bell;
  log_.Append("1\n");
  held_->WantLogAfter(0, &bell);
  EXPECT_TRUE(held_->Progress(true).has_log_end());
  log_.Append("2\n");
  held_->WantLogAfter(2, &bell);
  EXPECT_EQ(held_->LogDue(), clock_.Steady() + milliseconds(500));
}

// The one has read all there is, the other nothing.
TEST_F(HeldLeaseTest, WhatOneFollowerGetsDoesNotLoseAnother) {
  Wakeup bell;
  log_.Append("hello\n");
  held_->WantLogAfter(6, &bell);
  held_->WantLogAfter(0, &bell);
  EXPECT_EQ(held_->Progress(true).log_tail(), "hello\n");
  EXPECT_FALSE(held_->Progress(true).has_log_end());
  EXPECT_TRUE(bell.WaitFor(Duration::zero()));
  log_.Append("world\n");
  EXPECT_TRUE(bell.WaitFor(Duration::zero()));
  EXPECT_EQ(held_->Progress(true).log_tail(), "world\n");
}

TEST_F(HeldLeaseTest, AFollowerOfWhatIsNotThereYetGetsTheNextWord) {
  Wakeup bell;
  log_.Append("hello\n");
  held_->WantLogAfter(1'000'000, &bell);
  log_.Append("world\n");
  EXPECT_EQ(held_->Progress(true).log_tail(), "world\n");
}

TEST_F(HeldLeaseTest, TellsHowFarItIs) {
  held_->NoteStep(7, 20);
  clock_.Advance(seconds(3));
  const v1::LeaseProgress progress = held_->Progress(true);
  EXPECT_EQ(progress.step(), 7);
  EXPECT_EQ(progress.total_steps(), 20);
  EXPECT_EQ(progress.since_step().seconds(), 3);
}

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
