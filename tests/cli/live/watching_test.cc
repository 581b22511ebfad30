// SPDX-License-Identifier: Apache-2.0
//
// What is said of running trials, of the time they take, and of changes.
#include "cli/live/full_screen.h"
#include "cli/live/running_trials.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/live/small_fleet.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr WallMicros kNow = 1'700'000'000'000'000;

// It began a minute ago, and says nothing of itself.
v1::Trial SilentTrial() {
  v1::Trial trial = SmallTrial(17);
  trial.clear_progress();
  return trial;
}

std::vector<std::int64_t> NumbersOf(const RunningTrials& trials) {
  std::vector<std::int64_t> numbers;
  for (const v1::Trial& trial : trials.All()) {
    numbers.push_back(trial.number());
  }
  return numbers;
}

TEST(TimeLeft, BelievesTheTrainerAndCountsTheTimeSince) {
  v1::Trial trial = SmallTrial(17);
  trial.mutable_progress()->mutable_as_of()->set_seconds(1'700'000'000 - 20);
  EXPECT_EQ(ToldSecondsLeft(trial, kNow), 50.0);
  trial.mutable_progress()->clear_remaining();
  EXPECT_EQ(ToldSecondsLeft(trial, kNow), 50.0);  // 280 steps at 4 a second
  trial.mutable_progress()->set_steps_per_second(0);
  EXPECT_EQ(ToldSecondsLeft(trial, kNow), std::nullopt);
}

TEST(TimeLeft, SaysNothingOfATrialBeforeThreeHaveEnded) {
  EXPECT_EQ(TimeLeftText(TrialTimeLeft(SilentTrial(), {90, 100}, kNow)), "-");
}

TEST(TimeLeft, IsOfThoseTrialsThatTookLongerThanThisOneYet) {
  // Given 60 s that it has run, 30, 40 and 50 s are left; 10 s is no example.
  const auto left = TrialTimeLeft(SilentTrial(), {10, 90, 110, 100}, kNow);
  ASSERT_TRUE(left.has_value());
  EXPECT_DOUBLE_EQ(left->shortest, 35.0);
  EXPECT_DOUBLE_EQ(left->likely, 40.0);
  EXPECT_DOUBLE_EQ(left->longest, 45.0);
  EXPECT_EQ(TimeLeftText(left), "35 s – 45 s");
  EXPECT_FALSE(TrialTimeLeft(SilentTrial(), {1, 2, 3}, kNow).has_value());
}

TEST(TimeLeft, OfAStudyIsItsTrialsInTurnsOnAllSlots) {
  // Given 7 trials of 10 that are left, on 2 slots: 4 turns.
  const auto left = StudyTimeLeft(SmallStudy(), {10, 20, 30}, 2);
  ASSERT_TRUE(left.has_value());
  EXPECT_DOUBLE_EQ(left->shortest, 60.0);
  EXPECT_DOUBLE_EQ(left->likely, 80.0);
  EXPECT_DOUBLE_EQ(left->longest, 100.0);
  EXPECT_FALSE(StudyTimeLeft(SmallStudy(), {10, 20, 30}, 0).has_value());
  EXPECT_FALSE(StudyTimeLeft(SmallStudy(), {10, 20}, 2).has_value());
}

TEST(RunningLines, AreOneForEachTrialByItsNumber) {
  EXPECT_THAT(
      RunningLines({SmallTrial(18), SilentTrial()}, {}, kNow, 5),
      ElementsAre("  trial 17  gpu01  left -",
                  "  trial 18  gpu01  training  epoch 1.5/3  step 120/400  "
                  "left 1m10s"));
}

TEST(RunningLines, SayHowManyHaveNoRoom) {
  std::vector<v1::Trial> running;
  for (int i = 0; i < 9; ++i) running.push_back(SmallTrial(i));
  const auto lines = RunningLines(running, {}, kNow, 3);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2], "  and 7 more running");
  EXPECT_THAT(RunningLines(running, {}, kNow, 0), ElementsAre("  9 running"));
}

TEST(RunningLines, CountNoTrialThatRanElsewhere) {
  v1::Trial ended = SilentTrial();
  ended.mutable_end_time()->set_seconds(1'700'000'000);
  std::vector<double> durations;
  AddDuration(ended, &durations);  // it still runs
  ended.set_state(v1::TRIAL_STATE_SUCCEEDED);
  AddDuration(ended, &durations);
  ended.set_origin(v1::TRIAL_ORIGIN_IMPORTED);
  AddDuration(ended, &durations);
  EXPECT_THAT(durations, ElementsAre(60.0));
}

TEST(RunningTrials, AreThoseOfTheLastLookAndOfEventsSince) {
  RunningTrials trials;
  trials.BeginLook();
  trials.EndLook({SmallTrial(1), SmallTrial(2)});
  v1::Trial ended = SmallTrial(1);
  ended.set_state(v1::TRIAL_STATE_SUCCEEDED);
  trials.TakeEvent(ended);
  trials.TakeEvent(SmallTrial(3));
  EXPECT_THAT(NumbersOf(trials), ElementsAre(2, 3));
  trials.BeginLook();
  trials.EndLook({SmallTrial(4)});
  EXPECT_THAT(NumbersOf(trials), ElementsAre(4));
}

TEST(RunningTrials, BelieveAnEventBeforeALookThatBeganEarlier) {
  RunningTrials trials;
  trials.TakeEvent(SmallTrial(1));
  trials.BeginLook();
  v1::Trial ended = SmallTrial(1);
  ended.set_state(v1::TRIAL_STATE_PRUNED);
  trials.TakeEvent(ended);
  trials.TakeEvent(SmallTrial(2));
  trials.EndLook({SmallTrial(1)});
  EXPECT_THAT(NumbersOf(trials), ElementsAre(2));
}

TEST(RunningTrials, AreCountedOnceTheyAreAllKnown) {
  RunningTrials trials;
  v1::Study study = SmallStudy();
  study.mutable_counts()->set_running(2);
  trials.TakeEvent(SmallTrial(1));
  EXPECT_FALSE(trials.are_all_known());
  EXPECT_EQ(trials.Counted(study).counts().running(), 2);
  trials.EndLook({SmallTrial(1), SmallTrial(2), SmallTrial(3)});
  EXPECT_TRUE(trials.are_all_known());
  EXPECT_EQ(trials.Counted(study).counts().running(), 3);
  EXPECT_EQ(trials.Counted(study).counts().succeeded(), 3);
}

TEST(LiveArea, RedrawsOverTheLinesThatItHasShown) {
  EXPECT_EQ(RedrawText(0, {"a", "b"}), "\r\x1b[Ja\r\nb");
  EXPECT_EQ(RedrawText(3, {"c"}), "\x1b[2A\r\x1b[Jc");
}

v1::StudyEvent EventOf(const v1::Trial& trial) {
  v1::StudyEvent event;
  event.set_revision(5);
  *event.mutable_trial() = trial;
  return event;
}

TEST(EventLines, TellOfStatesAndNotOfEveryReport) {
  EventLines lines;
  lines.Know(SmallStudy());
  v1::Trial trial = SmallTrial(17);
  EXPECT_THAT(lines.LineOf(EventOf(trial)),
              HasSubstr("  imdb  trial 17  RUNNING  worker gpu01"));
  trial.set_last_step(9);
  EXPECT_EQ(lines.LineOf(EventOf(trial)), "");
  trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
  trial.add_values(0.93);
  trial.mutable_end_time()->set_seconds(1'700'000'000);
  EXPECT_EQ(lines.LineOf(EventOf(trial)),
            "2023-11-14 22:13:20Z  imdb  trial 17  SUCCEEDED  accuracy 0.93  "
            "1m00s  worker gpu01");
  EXPECT_EQ(TimeOf(EventOf(trial)), 1'700'000'000);
}

TEST(EventLines, TellOfAStudyWhenItsStateChanges) {
  EventLines lines;
  v1::StudyEvent event;
  *event.mutable_study() = SmallStudy();
  EXPECT_THAT(lines.LineOf(event), HasSubstr("imdb  study  ACTIVE  3/10 done"));
  event.mutable_study()->mutable_counts()->set_running(2);
  EXPECT_EQ(lines.LineOf(event), "");
  event.mutable_study()->set_state(v1::STUDY_STATE_PAUSED);
  event.mutable_study()->set_state_reason("a pause\x1b[2J");
  EXPECT_THAT(lines.LineOf(event), HasSubstr("PAUSED"));
  EXPECT_THAT(lines.LineOf(event), Not(HasSubstr("\x1b")));
}

TEST(EventJson, IsOneLineWithTheNamesOfTheProto) {
  const std::string json = EventJson(EventOf(SmallTrial(17)));
  EXPECT_THAT(json, Not(HasSubstr("\n")));
  EXPECT_THAT(json, HasSubstr("\"revision\":\"5\""));
  EXPECT_THAT(json, HasSubstr("\"last_step\":\"0\""));
}

}  // namespace
}  // namespace frostline::cli
