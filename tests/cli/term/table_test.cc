// SPDX-License-Identifier: Apache-2.0
#include "cli/term/table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

TEST(Table, AlignsColumns) {
  Table table({{"ID"}, {"TRIALS", Align::kRight}, {"STATE"}});
  table.AddRow({"imdb", "200", "ACTIVE"});
  table.AddRow({"a", "7"});
  EXPECT_EQ(table.Render(),
            "ID    TRIALS  STATE\n"
            "imdb     200  ACTIVE\n"
            "a          7\n");
}

TEST(Table, CountsColumnsNotBytes) {
  Table table({{"A"}, {"B"}});
  table.AddRow({"zürich", "1"});
  table.AddRow({"東京", "2"});
  table.AddRow({"e\u0301", "3"});  // e with a combining accent
  EXPECT_EQ(table.Render(),
            "A       B\n"
            "zürich  1\n"
            "東京    2\n"
            "e\u0301       3\n");
}

TEST(Table, CutsLinesToTheTerminal) {
  Table table({{"NAME"}});
  table.AddRow({"embeddings"});
  EXPECT_EQ(table.Render(6), "NAME\nembed…\n");
}

TEST(Table, LeavesOutWhatMattersLeast) {
  Table table(
      {{"ID"}, {"STATE", Align::kLeft, 1}, {"LABELS", Align::kLeft, 2}});
  table.AddRow({"imdb", "ACTIVE", "team=nlp"});
  EXPECT_EQ(table.Render(200),
            "ID    STATE   LABELS\n"
            "imdb  ACTIVE  team=nlp\n");
  EXPECT_EQ(table.Render(20),
            "ID    STATE …\n"
            "imdb  ACTIVE\n");
  EXPECT_EQ(table.Render(8),
            "ID …\n"
            "imdb\n");
}

// "2…" could be 2, 20 or 200.
TEST(Table, CutsNoNumber) {
  Table table({{"ID"}, {"DONE", Align::kRight}, {"OUTSIDE", Align::kRight}});
  table.AddRow({"demo", "40", "200"});
  EXPECT_EQ(table.Render(19), "ID    DONE  OUTSIDE\ndemo    40      200\n");
  EXPECT_EQ(table.Render(18), "ID    DONE …\ndemo    40\n");
  EXPECT_EQ(table.Render(11), "ID …\ndemo\n");
  Table wide({{"MODULE"}, {"COST, 80 %"}});
  wide.AddRow({"layer.0", "-0.002 (-0.041 – 0.067)"});
  EXPECT_EQ(wide.Render(30), "MODULE …\nlayer.0\n");
}

TEST(Table, LeavesOutWhatIsEmptyBeforeAllElse) {
  Table table({{"ID"}, {"WORKER"}, {"SCORE", Align::kLeft, 1}});
  table.AddRow({"imdb", "", "0.93"});
  EXPECT_EQ(table.Render(20),
            "ID    WORKER  SCORE\n"
            "imdb          0.93\n");
  EXPECT_EQ(table.Render(15),  // nothing is missing that "…" would stand for
            "ID    SCORE\n"
            "imdb  0.93\n");
}

TEST(Table, GoesOnBelowWhereItsLastColumnIsLong) {
  Table table({{"RUNS", Align::kRight},
               {"SECONDS", Align::kRight, 1},
               {.title = "MODULES", .wraps = true}});
  table.AddRow({"3", "1.5", "embeddings, layer.0-3, layer.5, head"});
  table.AddRow({"1", "2", "head"});
  EXPECT_EQ(table.Render(28),
            "RUNS  MODULES …\n"
            "   3  embeddings, layer.0-3,\n"
            "      layer.5, head\n"
            "   1  head\n");
  EXPECT_EQ(table.Render(),
            "RUNS  SECONDS  MODULES\n"
            "   3      1.5  embeddings, layer.0-3, layer.5, head\n"
            "   1        2  head\n");
}

TEST(Table, KeepsEscapeSequencesFromTheTerminal) {
  Table table({{"NOTE"}});
  table.AddRow({"\x1b[2Jgone\nforged line"});
  EXPECT_THAT(table.Render(), testing::Not(testing::HasSubstr("\x1b")));
  EXPECT_EQ(table.Render(), "NOTE\n [2Jgone forged line\n");
}

TEST(Table, GivesProgramsExactCells) {
  Table table({{"BEST TRIAL"}, {"L1", Align::kRight, 0, false, "layer.1"}});
  table.AddCells({{"17"}, {"frozen", "0"}});
  EXPECT_EQ(table.Csv(), "best_trial,layer.1\r\n17,0\r\n");
  EXPECT_EQ(table.Render(), "BEST TRIAL      L1\n17          frozen\n");
}

TEST(Table, KeepsEveryLetterForPrograms) {
  Table table({{"NOTE"}});
  table.AddRow({"a\tb\x1b[1m\nc\r \u202E"});
  EXPECT_EQ(table.Csv(), "note\r\n\"a\tb\x1b[1m\nc\r \u202E\"\r\n");
  EXPECT_EQ(table.Render(), "NOTE\na b [1m c\n");
}

TEST(Table, QuotesNamesInCsvAndKeepsEscapesOutOfThem) {
  const Table table({{"m", Align::kLeft, 0, false, "a,\"b\"\x1b[31m"}});
  EXPECT_EQ(table.Csv(), "\"a,\"\"b\"\" [31m\"\r\n");
}

TEST(Table, ShowsSomeColumnsOnDemand) {
  Table table({{"ID"}, {"NOTE", Align::kLeft, 0, true}});
  table.AddRow({"imdb", "mine"});
  EXPECT_EQ(table.Render(), "ID\nimdb\n");
  EXPECT_EQ(table.WithColumns({1, 0}).Render(), "NOTE  ID\nmine  imdb\n");
}

TEST(Table, FindsColumnsByNameAndTitleInAnyCase) {
  const Table table(
      {{"BEST TRIAL"}, {"F1"}, {"f1"}, {"L1", Align::kLeft, 0, false, "x"}});
  EXPECT_EQ(table.Find("best_trial"), 0U);
  EXPECT_EQ(table.Find("Best Trial"), 0U);
  EXPECT_EQ(table.Find("l1"), 3U);
  EXPECT_EQ(table.Find("X"), 3U);
  EXPECT_FALSE(table.Find("other").has_value());
}

TEST(Table, OrdersNumbersThenTextThenWhatIsMissing) {
  Table table({{"VALUE"}});
  for (const char* const cell : {"", "10", "b", "9", "inf", "a", "9"}) {
    table.AddRow({cell});
  }
  EXPECT_THAT(table.Order(0, false), testing::ElementsAre(3, 6, 1, 4, 5, 2, 0));
  EXPECT_THAT(table.Order(0, true), testing::ElementsAre(4, 1, 3, 6, 2, 5, 0));
}

}  // namespace
}  // namespace frostline::cli
