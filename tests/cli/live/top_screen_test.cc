// SPDX-License-Identifier: Apache-2.0
#include "cli/live/top_screen.h"

#include "absl/strings/str_join.h"
#include "cli/live/full_screen.h"
#include "cli/term/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/live/small_fleet.h"

namespace frostline::cli {
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

}  // namespace
}  // namespace frostline::cli
