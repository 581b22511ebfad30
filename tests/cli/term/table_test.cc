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

TEST(Table, KeepsEscapeSequencesFromTheTerminal) {
  Table table({{"NOTE"}});
  table.AddRow({"\x1b[2Jgone\nforged line"});
  EXPECT_THAT(table.Render(), testing::Not(testing::HasSubstr("\x1b")));
  EXPECT_EQ(table.Render(), "NOTE\n [2Jgone forged line\n");
}

}  // namespace
}  // namespace frostline::cli
