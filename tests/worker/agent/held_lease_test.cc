// SPDX-License-Identifier: Apache-2.0
//
// What an agent believes of a lease, and tells of it.
#include "gmock/gmock.h"
#include "tests/support/fake_clock.h"
#include "worker/agent/link/lease_keeper.h"

namespace frostline::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

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

}  // namespace
}  // namespace frostline::agent
