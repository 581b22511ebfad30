// SPDX-License-Identifier: Apache-2.0
#include "cli/live/top_screen.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/live/full_screen.h"
#include "cli/live/running_trials.h"
#include "cli/live/text_plot.h"
#include "cli/term/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {

inline v1::Study SmallStudy() {
  v1::Study study;
  study.set_name("studies/imdb");
  study.set_state(v1::STUDY_STATE_ACTIVE);
  v1::Objective* const objective = study.mutable_spec()->add_objectives();
  objective->set_metric("accuracy");
  objective->set_direction(v1::DIRECTION_MAXIMIZE);
  study.mutable_settings()->mutable_budget()->set_trials(10);
  study.mutable_counts()->set_running(1);
  study.mutable_counts()->set_queued(2);
  study.mutable_counts()->set_succeeded(3);
  study.mutable_counts()->set_budget_used(3);
  return study;
}

inline v1::Trial SmallTrial(std::int64_t number) {
  v1::Trial trial;
  trial.set_name("studies/imdb/trials/" + std::to_string(number));
  trial.set_number(number);
  trial.set_state(v1::TRIAL_STATE_RUNNING);
  trial.set_worker("workers/gpu01");
  trial.mutable_start_time()->set_seconds(1'700'000'000 - 60);
  v1::TrialProgress& progress = *trial.mutable_progress();
  progress.set_phase("training");
  progress.set_step(120);
  progress.set_total_steps(400);
  progress.set_epoch(1.5);
  progress.set_total_epochs(3);
  progress.set_steps_per_second(4);
  progress.mutable_remaining()->set_seconds(70);
  progress.set_slot(1);
  return trial;
}

// One study with one trial, on slot 1 of gpu01, which has two; gpu02 drains.
inline FleetAnswers SmallFleet() {
  FleetAnswers answers;
  answers.coordinator = "127.0.0.1:7070";
  answers.time = 1'700'000'000'000'000;  // 22:13:20 UTC
  answers.info.set_version("0.2.1");
  answers.studies = {SmallStudy()};
  answers.running = {SmallTrial(17)};
  v1::Trial best = SmallTrial(3);
  best.add_values(0.93);
  (*best.mutable_metrics())["accuracy"] = 0.93;
  answers.best = {best};
  answers.workers.resize(2);
  answers.workers[0].set_name("workers/gpu01");
  answers.workers[0].set_slots(2);
  answers.workers[0].set_state(v1::WORKER_STATE_ACTIVE);
  answers.workers[1].set_name("workers/gpu02");
  answers.workers[1].set_slots(1);
  answers.workers[1].set_state(v1::WORKER_STATE_DRAINING);
  return answers;
}

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TopState After(TopState state, const std::string& bytes,
               const FleetAnswers& answers) {
  for (const Key& key : KeysOf(bytes)) {
    state = AfterKey(std::move(state), key, TableOf(answers));
  }
  return state;
}

std::string Screen(const FleetAnswers& answers, const TopState& state,
                   ScreenSize size = {}) {
  return absl::StrJoin(TopLines(answers, state, size, ""), "\n");
}

TEST(FleetTable, HasARowForEachSlotWithTheTrialInItsOwn) {
  const FleetTable table = TableOf(SmallFleet());
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0].state, "idle");
  EXPECT_EQ(table.rows[1].number, 17);
  EXPECT_EQ(table.rows[1].slot, 1);
  EXPECT_EQ(table.rows[1].seconds_left, 70.0);
  EXPECT_EQ(table.rows[2].state, "DRAINING");
  EXPECT_EQ(table.counts.live, 1);
  EXPECT_EQ(table.counts.free, 1);
  EXPECT_EQ(table.counts.ended, 3);
}

TEST(FleetTable, GivesATrialWithoutProgressTheNextFreeSlot) {
  FleetAnswers answers = SmallFleet();
  v1::Trial silent = SmallTrial(18);
  silent.clear_progress();
  silent.set_last_step(7);
  answers.running.push_back(silent);
  const FleetTable table = TableOf(answers);
  EXPECT_EQ(table.rows[0].number, 18);
  EXPECT_EQ(table.rows[0].step, 7);
  EXPECT_FALSE(table.rows[0].seconds_left.has_value());
  EXPECT_EQ(table.counts.free, 0);
}

TEST(FleetTable, ShowsTrialsOfAWorkerThatTheListHasNoLonger) {
  FleetAnswers answers = SmallFleet();
  answers.workers.clear();
  const FleetTable table = TableOf(answers);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].worker, "gpu01");
}

TEST(FleetTable, CountsAsRunningWhatItsRowsShow) {
  FleetAnswers answers = SmallFleet();
  // When the study was asked two ran, and one of them has ended since.
  answers.studies[0].mutable_counts()->set_running(2);
  EXPECT_EQ(TableOf(answers).counts.running, 1);
  EXPECT_THAT(Screen(answers, {}), HasSubstr("trials: 1 running"));
}

TEST(FleetJson, SaysNullForWhatIsNotKnown) {
  FleetAnswers answers = SmallFleet();
  answers.running[0].clear_progress();
  const std::string json = FleetJson(answers);
  EXPECT_THAT(json, HasSubstr("\"seconds_left\": null"));
  EXPECT_THAT(json, HasSubstr("\"trial\": \"studies/imdb/trials/17\""));
  EXPECT_THAT(json, HasSubstr("\"version\": \"0.2.1\""));
}

TEST(TopScreen, IsAsGoldenAtEighty) {
  const auto lines = TopLines(SmallFleet(), {}, {80, 10}, "");
  EXPECT_THAT(
      lines,
      ElementsAre("frostline 0.2.1 at 127.0.0.1:7070, 22:13:20Z",
                  "1 of 1 studies active; trials: 1 running, 2 queued, 3 ended",
                  "workers: 1 live, 1 draining, 0 quarantined; 1 of 2 slots "
                  "free",
                  "by worker", "", StartsWith("  WORKER  SLOT  TRIAL"),
                  StartsWith("> gpu01      0  idle"),
                  "  gpu01      1  imdb/17   training  1.5/3  120/400       4  "
                  "1m10s  accuracy 0.93",
                  StartsWith("  gpu02      0  DRAINING"),
                  "q quit  s sort  f filter  ↑↓ enter details  space pause"));
}

TEST(TopScreen, FitsEverySizeAndKeepsWhatMattersMost) {
  for (const int width : {40, 80, 200}) {
    const auto lines = TopLines(SmallFleet(), {}, {width, 24}, "");
    EXPECT_EQ(lines.size(), 24u);
    for (const std::string& line : lines) {
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
    const std::string screen = absl::StrJoin(lines, "\n");
    EXPECT_THAT(screen, HasSubstr("imdb/17"));
    EXPECT_THAT(screen, HasSubstr("1.5/3"));
    EXPECT_THAT(screen, HasSubstr("1m10s"));
  }
  EXPECT_EQ(TopLines(SmallFleet(), {}, {1, 1}, "").size(), 1u);
}

TEST(TopScreen, FollowsTheSelectionBeyondItsLastLine) {
  FleetAnswers answers = SmallFleet();
  answers.workers[0].set_slots(100);
  TopState state;
  state.selected = 60;
  const std::string screen = Screen(answers, state, {80, 12});
  EXPECT_THAT(screen, HasSubstr("> gpu01     60  idle"));
  EXPECT_THAT(screen, HasSubstr("WORKER"));
  EXPECT_THAT(screen, Not(HasSubstr("gpu01     61")));
}

TEST(TopScreen, FiltersByAWordAndForgetsItOnEscape) {
  const FleetAnswers answers = SmallFleet();
  TopState state = After({}, "fGPU02x\x7f\r", answers);
  EXPECT_EQ(state.filter, "GPU02");
  EXPECT_FALSE(state.is_typing);
  EXPECT_EQ(RowsShown(TableOf(answers), state).size(), 1u);
  state = After(state, "f\x1b", answers);
  EXPECT_EQ(RowsShown(TableOf(answers), state).size(), 3u);
  state = After(state, "fGPU02\r\x1b", answers);  // taken, then not
  EXPECT_EQ(RowsShown(TableOf(answers), state).size(), 3u);
  state = After(state, "fq", answers);
  EXPECT_FALSE(state.is_done);  // a letter of the filter
}

TEST(TopScreen, SortsBusyRowsFirstByTimeLeft) {
  const FleetAnswers answers = SmallFleet();
  const TopState state = After({}, "ss", answers);
  EXPECT_EQ(state.order, TopOrder::kTimeLeft);
  EXPECT_EQ(RowsShown(TableOf(answers), state)[0].number, 17);
  EXPECT_EQ(After(state, "s", answers).order, TopOrder::kWorker);
}

TEST(TopScreen, OpensATrialAndComesBack) {
  const FleetAnswers answers = SmallFleet();
  TopState state = After({}, "\x1b[B\r", answers);
  EXPECT_EQ(state.trial, "studies/imdb/trials/17");
  EXPECT_THAT(Screen(answers, state), HasSubstr("worker:      gpu01"));
  FleetAnswers later = answers;
  later.running.clear();
  EXPECT_THAT(Screen(later, state), HasSubstr("runs no more"));
  state = After(state, "\x1b", answers);
  EXPECT_TRUE(state.trial.empty());
  EXPECT_TRUE(After(state, "q", answers).is_done);
}

TEST(TopScreen, SaysThatWhatItShowsIsOld) {
  const auto lines =
      TopLines(SmallFleet(), {}, {}, "no coordinator\x1b[2J answers");
  EXPECT_THAT(lines[3], StartsWith("OLD: no coordinator"));
  EXPECT_THAT(lines[3], Not(HasSubstr("\x1b")));
  const TopState paused = After({}, " ", SmallFleet());
  EXPECT_THAT(Screen(SmallFleet(), paused), HasSubstr("PAUSED"));
}

TEST(TopScreen, PrintsAllRowsOnceWithoutAMark) {
  const std::string text = TopText(SmallFleet(), 0);
  EXPECT_THAT(text, HasSubstr("accuracy 0.93"));
  EXPECT_THAT(text, Not(HasSubstr("> ")));
}

TEST(FullScreen, ClearsEachLineBeforeItIsWritten) {
  EXPECT_EQ(FrameText({"a", "b"}), "\x1b[H\x1b[2Ka\r\n\x1b[2Kb\x1b[J");
}

TEST(Keys, ReadsSequencesAndLeavesUnknownOnesOut) {
  const auto keys = KeysOf("\x1b[A\x1b[5~é\x03\x1b");
  ASSERT_EQ(keys.size(), 4u);
  EXPECT_EQ(keys[0].kind, KeyKind::kUp);
  EXPECT_EQ(keys[1].text, "é");
  EXPECT_EQ(keys[2].kind, KeyKind::kEnd);
  EXPECT_EQ(keys[3].kind, KeyKind::kEscape);
}

// What is said of running trials, of the time they take, and of changes.

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
      ElementsAre("  trial 17  gpu01",
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

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The width of the widest line.
int WidthOf(const std::string& text) {
  int width = 0;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const std::string& line : lines) {
    width = std::max(width, DisplayWidth(line));
  }
  return width;
}

TEST(PlotCurves, JoinsPointsWithALetterForEachCurve) {
  const std::vector<Curve> curves = {{"first", {{0, 0}, {1, 1}}},
                                     {"second", {{0, 1}, {1, 1}}}};
  EXPECT_EQ(PlotCurves(curves, 20, 3),
            "  1 ┤bbbbbbbbbbbbbbb\n"
            "0.5 ┤    aaaaaaa\n"
            "  0 ┤aaaa\n"
            "    └───────────────\n"
            "     0             1\n"
            "a  first\n"
            "b  second\n");
}

TEST(PlotCurves, PutsOnePointIntoTheMiddle) {
  EXPECT_EQ(PlotCurves({{"", {{3, 7}}}}, 20, 3),
            "  │\n"
            "7 ┤        ⠠\n"
            "  │\n"
            "  └─────────────────\n"
            "           3\n");
}

TEST(PlotCurves, FillsEveryWidthAndNoMore) {
  const Curve curve = {"trial 3", {{1, 0.91234}, {50, 0.91236}, {99, 0.9}}};
  for (const int width : {40, 80, 200}) {
    EXPECT_EQ(WidthOf(PlotCurves({curve}, width, 16)), width);
    EXPECT_EQ(WidthOf(PlotCurves({curve, curve}, width, 16)), width);
    EXPECT_EQ(WidthOf(PlotHistory(curve, curve, width, 16)), width);
  }
}

TEST(PlotCurves, LabelsTellTheEndsApart) {
  const std::string text =
      PlotCurves({{"", {{0, 1000.001}, {1, 1000.002}}}}, 60, 5);
  EXPECT_THAT(text, HasSubstr("1000.001"));
  EXPECT_THAT(text, HasSubstr("1000.002"));
}

TEST(PlotCurves, HasOneLabelWhereAllValuesAreEqual) {
  const std::string text = PlotCurves({{"", {{0, 5}, {9, 5}}}}, 40, 5);
  EXPECT_THAT(text, HasSubstr("\n5 ┤"));
  EXPECT_THAT(text, StartsWith("  │"));
}

TEST(PlotCurves, BearsTheLargestNumbers) {
  const double most = std::numeric_limits<double>::max();
  const std::string text = PlotCurves({{"", {{0, -most}, {1, most}}}}, 40, 5);
  EXPECT_THAT(text, HasSubstr("1.798e+308"));
  EXPECT_EQ(WidthOf(text), 40);
}

TEST(PlotCurves, LeavesOutWhatIsNotFiniteAndSaysSo) {
  const std::string text =
      PlotCurves({{"", {{0, 1}, {1, kNaN}, {2, kInfinity}, {3, 2}}}}, 40, 5);
  EXPECT_THAT(text, HasSubstr("2 values are not finite: left out\n"));
  EXPECT_EQ(PlotCurves({{"", {{0, kNaN}}}}, 40, 5),
            "no values to plot\n1 value is not finite: left out\n");
  EXPECT_EQ(PlotCurves({}, 40, 5), "no values to plot\n");
  EXPECT_EQ(PlotHistory({}, {}, 40, 5), "no values to plot\n");
}

TEST(PlotHistory, MarksTrialsAboveTheLineOfTheBest) {
  const Curve values = {"", {{0, 0}, {1, 0}, {2, 1}}};
  const Curve best = {"", {{0, 0}, {1, 0}, {2, 1}}};
  const std::string text = PlotHistory(values, best, 20, 3);
  EXPECT_THAT(text, StartsWith("  1 ┤"));
  EXPECT_EQ(std::count(text.begin(), text.end(), 'o'), 3);
}

v1::ParameterImportance Row(const std::string& name, double value, double lo,
                            double hi) {
  v1::ParameterImportance row;
  row.set_parameter(name);
  row.add_modules(name);
  row.mutable_main()->set_value(value);
  row.mutable_main()->set_lo80(lo);
  row.mutable_main()->set_hi80(hi);
  return row;
}

TEST(PlotImportance, DrawsBarsWithTheirIntervalsAndMarks) {
  v1::ImportanceReport report;
  *report.add_parameters() = Row("head", 0.5, 0.25, 1.0);
  *report.add_parameters() = Row("layer.0", 0.0, kNaN, kNaN);
  // 37 columns: 7 of names, 3 of marks, 7 of shares, a blank, 19 of bars.
  const std::string text =
      PlotImportance(report, {{"head", false}, {"layer.0", true}}, 37);
  EXPECT_THAT(text, StartsWith("head    +  50.0 % █████├████────────┤\n"
                               "layer.0 *   0.0 % \n"));
}

TEST(PlotImportance, FitsEveryWidth) {
  v1::ImportanceReport report;
  *report.add_parameters() = Row(std::string(100, 'x'), 0.4, 0.3, 0.5);
  *report.add_parameters() = Row("nothing", kNaN, kNaN, kNaN);
  for (const int width : {40, 80, 200}) {
    EXPECT_LE(WidthOf(PlotImportance(report, {}, width)), width);
  }
  EXPECT_EQ(PlotImportance({}, {}, 80), "no parameters to plot\n");
}

}  // namespace
}  // namespace frostline::cli
