// SPDX-License-Identifier: Apache-2.0
#include "cli/term/terminal.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/term/table.h"
#include "cli/term/text_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;

std::string SaidIn(Duration passed, Duration quiet, bool is_terminal) {
  const Terminal terminal = {.err_is_tty = is_terminal, .width = 40};
  testing::internal::CaptureStderr();
  {
    const BusyLine busy(terminal, "planning", quiet);
    std::this_thread::sleep_for(passed);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(BusyLine, SaysWhatIsUnderWayAndTakesItAway) {
  const std::string said = SaidIn(milliseconds(100), seconds(0), true);
  EXPECT_THAT(said, HasSubstr("planning … 0 s"));
  EXPECT_THAT(said, EndsWith("\r\x1b[K"));
}

TEST(BusyLine, SaysNothingOfWhatIsSoonOver) {
  EXPECT_EQ(SaidIn(milliseconds(0), seconds(60), true), "");
}

TEST(BusyLine, SaysNothingOffATerminal) {
  EXPECT_EQ(SaidIn(milliseconds(100), seconds(0), false), "");
}

// As a terminal of three lines says it, whatever runs the test.
std::string Printed(const std::string& text, bool is_tty, bool pages) {
  Terminal terminal;
  terminal.out_is_tty = is_tty;
  terminal.pages = pages;
  terminal.height = 3;
  testing::internal::CaptureStdout();
  PrintPaged(terminal, text);
  return testing::internal::GetCapturedStdout();
}

class Pager : public testing::Test {
 protected:
  void SetUp() override { setenv("FROSTLINE_PAGER", "sed s/^/paged/", 1); }
  void TearDown() override {
    unsetenv("FROSTLINE_PAGER");
    unsetenv("PAGER");
  }
};

TEST_F(Pager, TakesWhatIsTallerThanTheTerminal) {
  EXPECT_EQ(Printed("1\n2\n3\n", true, true), "paged1\npaged2\npaged3\n");
  EXPECT_EQ(Printed("1\n2\n", true, true), "1\n2\n");
}

TEST_F(Pager, IsNeverUsedOffATerminalOrUnwanted) {
  EXPECT_EQ(Printed("1\n2\n3\n", false, true), "1\n2\n3\n");
  EXPECT_EQ(Printed("1\n2\n3\n", true, false), "1\n2\n3\n");
  setenv("FROSTLINE_PAGER", "", 1);
  EXPECT_EQ(Printed("1\n2\n3\n", true, true), "1\n2\n3\n");
}

TEST_F(Pager, OfFrostlineGoesBeforeThatOfAll) {
  setenv("PAGER", "more", 1);
  EXPECT_EQ(PagerCommand(), "sed s/^/paged/");
  unsetenv("FROSTLINE_PAGER");
  EXPECT_EQ(PagerCommand(), "more");
}

TEST_F(Pager, ThatIsNotThereLosesNothing) {
  setenv("FROSTLINE_PAGER", "no-such-pager-at-all 2>&-", 1);
  EXPECT_EQ(Printed("1\n2\n3\n", true, true), "1\n2\n3\n");
}

TEST_F(Pager, LeftEarlyIsNoFailure) {
  setenv("FROSTLINE_PAGER", "head -n 1", 1);
  const std::string text(std::size_t{1} << 20, '\n');
  EXPECT_EQ(Printed("first" + text, true, true), "first\n");
}

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

namespace fs = std::filesystem;

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const std::string& path, const std::string& text) {
  ASSERT_OK_AND_ASSIGN(const auto file, OutputFile::Open(path));
  ASSERT_OK(file->Append(text));
  ASSERT_OK(file->Commit());
}

TEST(OutputFile, IsThereOnceItIsWhole) {
  const TempFolder folder;
  const std::string path = folder.File("a");
  {
    ASSERT_OK_AND_ASSIGN(const auto file, OutputFile::Open(path));
    ASSERT_OK(file->Append("half"));
  }
  EXPECT_FALSE(fs::exists(path));
  Write(path, "whole");
  EXPECT_EQ(TextOf(path), "whole");
  EXPECT_THAT(OutputFile::Open(folder.File("no/where")),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST(OutputFile, LeavesALinkALink) {
  const TempFolder folder;
  fs::create_directory(folder.File("far"));
  fs::create_symlink("far/b", folder.File("a"));  // to nothing yet
  for (const char* const text : {"first", "second"}) {
    Write(folder.File("a"), text);
    EXPECT_TRUE(fs::is_symlink(folder.File("a")));
    EXPECT_EQ(TextOf(folder.File("far/b")), text);
  }
}

TEST(OutputFile, WritesIntoWhatIsNoFile) {
  const TempFolder folder;
  const std::string pipe = folder.File("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = TextOf(pipe); });
  Write(pipe, "text");
  reader.join();
  EXPECT_EQ(read, "text");
  EXPECT_TRUE(fs::is_fifo(pipe));
  Write("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(OutputFile, AFullDiskIsTheDisksError) {
  ASSERT_OK_AND_ASSIGN(const auto file, OutputFile::Open("/dev/full"));
  EXPECT_THAT(file->Append("text"), FailsWith(ErrorId::kStoreFull));
}

TEST(OutputFile, ANameTellsTheFormat) {
  EXPECT_EQ(FormatOfEnding("a/b.svg"), "svg");
  EXPECT_EQ(FormatOfEnding("B.CSV"), "csv");
  EXPECT_EQ(FormatOfEnding("b.json"), "json");
  EXPECT_EQ(FormatOfEnding("b.jsonl"), "jsonl");
  EXPECT_EQ(FormatOfEnding("b.yml"), "yaml");
  for (const char* const none : {"", "-", "b", "b.txt", "svg", "b.svg/c"}) {
    EXPECT_EQ(FormatOfEnding(none), "") << none;
  }
}

TEST(OutputFile, ReplacesFilesByForceAlone) {
  const TempFolder folder;
  const std::string path = folder.File("a");
  EXPECT_OK(CheckMayReplace(path, false));
  Write(path, "text");
  EXPECT_THAT(CheckMayReplace(path, false),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_OK(CheckMayReplace(path, true));
  for (const char* const free : {"", "-", "/dev/stdout", "/dev/null"}) {
    EXPECT_OK(CheckMayReplace(free, false)) << free;
  }
}

TEST(TextFile, ReadsOneByteMoreThanAllowedAndNoMore) {
  const TempFolder folder;
  std::ofstream(folder.File("a")) << "0123456789";
  ASSERT_OK_AND_ASSIGN(const std::string whole,
                       ReadTextFile(folder.File("a"), 10));
  ASSERT_OK_AND_ASSIGN(const std::string cut,
                       ReadTextFile(folder.File("a"), 4));
  EXPECT_EQ(whole, "0123456789");
  EXPECT_EQ(cut, "01234");
  ASSERT_OK_AND_ASSIGN(const std::string endless, ReadTextFile("/dev/zero", 4));
  EXPECT_EQ(endless.size(), 5u);
}

TEST(TextFile, AFullDiskIsTheDisksErrorAndAFolderTheCallers) {
  const TempFolder folder;
  const absl::Status full = WriteTextFile("/dev/full", "text");
  EXPECT_THAT(full, FailsWith(ErrorId::kStoreFull));
  EXPECT_NE(full.message().find("No space left"), std::string::npos) << full;
  for (const std::string& path :
       {folder.path().string(), folder.File("none/a")}) {
    EXPECT_THAT(WriteTextFile(path, "text"),
                FailsWith(ErrorId::kRequestInvalid));
  }
}

TEST(TextFile, GivesTheLastLines) {
  const TempFolder folder;
  std::ofstream(folder.File("log")) << "a\nb\nc\n";
  EXPECT_EQ(LastLines(folder.File("log"), 2), "b\nc");
  EXPECT_EQ(LastLines(folder.File("log"), 9), "a\nb\nc");
  EXPECT_EQ(LastLines(folder.File("none"), 2), "");
}

TEST(TextFile, GivesTheLastLinesOfAVeryLongFile) {
  const TempFolder folder;
  std::ofstream(folder.File("log"))
      << std::string(200'000, 'x') << "\nlast words\n";
  EXPECT_EQ(LastLines(folder.File("log"), 1), "last words");
}

TEST(Utf8, MeasuresColumns) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("東京"), 4);
  EXPECT_EQ(DisplayWidth("🧊"), 2);
  EXPECT_EQ(DisplayWidth("\xff\xfe"), 2);
}

TEST(Utf8, CutsBetweenCharacters) {
  EXPECT_EQ(FitToWidth("abcdef", 6), "abcdef");
  EXPECT_EQ(FitToWidth("abcdef", 4), "abc…");
  EXPECT_EQ(FitToWidth("東京都", 4), "東…");
  EXPECT_EQ(FitToWidth("abc", 0), "abc");
}

TEST(Utf8, WrapsAtBlanks) {
  EXPECT_EQ(WrapText("one two three", 8), "one two\nthree\n");
  EXPECT_EQ(WrapText("東京 東京 a", 7), "東京\n東京 a\n");
  EXPECT_EQ(WrapText("a incomprehensible b", 4), "a\nincomprehensible\nb\n");
  EXPECT_EQ(WrapText("one two three", 0), "one two three\n");
}

}  // namespace
}  // namespace frostline::cli
