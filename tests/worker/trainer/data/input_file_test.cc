// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/input_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

class DataRootTest : public ::testing::Test {
 protected:
  DataRootTest() {
    folder_.Write("root/sets/a.tsv", "inside");
    folder_.Write("secret", "outside");
  }
  DataRoot Root() { return DataRoot::Open(folder_.File("root")).value(); }
  std::string ReadBelow(const std::string& path) {
    Expected<InputFile> file = Root().OpenFile(path);
    if (!file.ok()) return file.fault().cause;
    return file.value().ReadAll(100).value();
  }

  DataFolder folder_;
};

TEST_F(DataRootTest, OpensBelowTheRoot) {
  EXPECT_EQ(ReadBelow("sets/a.tsv"), "inside");
  EXPECT_EQ(Root().OpenFileStepwise("./sets//a.tsv").value().ReadAll(9).value(),
            "inside");
}

TEST_F(DataRootTest, NoPathLeadsOut) {
  fs::create_symlink("../secret", folder_.File("root/link"));
  fs::create_symlink(folder_.File("secret"), folder_.File("root/absolute"));
  fs::create_directory_symlink("..", folder_.File("root/up"));
  for (const std::string path :
       {"../secret", "sets/../../secret", "link", "absolute", "up/secret", "",
        "sets/..", "/etc/hostname"}) {
    EXPECT_THAT(FaultOf(Root().OpenFile(path)),
                IsFault(FaultKind::kInconsistent, "leads out"))
        << path;
    EXPECT_THAT(FaultOf(Root().OpenFileStepwise(path)),
                IsFault(FaultKind::kInconsistent, "leads out"))
        << path;
  }
}

TEST_F(DataRootTest, ALinkThatStaysInsideIsFollowed) {
  fs::create_symlink("sets/a.tsv", folder_.File("root/inner"));
  const Expected<InputFile> file = Root().OpenFile("inner");
  // Kernels that cannot check refuse every link.
  EXPECT_TRUE(file.ok() || file.fault().kind == FaultKind::kInconsistent);
  EXPECT_FALSE(Root().OpenFileStepwise("inner").ok());
}

TEST_F(DataRootTest, OnlyFilesAreOpened) {
  EXPECT_THAT(FaultOf(Root().OpenFile("sets")),
              IsFault(FaultKind::kUnreadable, "not a regular file"));
  EXPECT_THAT(FaultOf(Root().OpenFile("sets/b.tsv")),
              IsFault(FaultKind::kUnreadable, "sets/b.tsv: No such file"));
  ASSERT_EQ(mkfifo(folder_.File("root/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(Root().OpenFile("pipe").ok());  // and does not hang
  EXPECT_FALSE(InputFile::Open(folder_.File("root/pipe")).ok());
}

TEST_F(DataRootTest, ReadAllHasALimit) {
  Expected<InputFile> file = Root().OpenFile("sets/a.tsv");
  EXPECT_EQ(file.value().ReadAll(6).value(), "inside");
  EXPECT_THAT(FaultOf(file.value().ReadAll(5)),
              IsFault(FaultKind::kTooLarge, "more than 5 bytes"));
}

constexpr auto kAnotherSum =
    "0000000000000000000000000000000000000000000000000000000000000000";

TEST_F(DataRootTest, ASumIsComputedOnce) {
  VerifiedFiles files(Root());
  const std::string sum =
      Root().OpenFile("sets/a.tsv").value().Sha256().value();
  EXPECT_TRUE(files.Open("sets/a.tsv", sum).ok());
  EXPECT_EQ(files.Open("sets/a.tsv", sum).value().ReadAll(9).value(), "inside");
  EXPECT_EQ(files.sums_computed(), 1U);
}

TEST_F(DataRootTest, AFileThatChangedIsSummedAgain) {
  VerifiedFiles files(Root());
  const std::string sum =
      Root().OpenFile("sets/a.tsv").value().Sha256().value();
  EXPECT_TRUE(files.Open("sets/a.tsv", sum).ok());
  const std::string path = folder_.File("root/sets/a.tsv");
  const auto time = fs::last_write_time(path);
  const auto changed = [&] {
    struct stat info;
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return std::pair(info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  };
  const auto before = changed();
  do {  // until the file system's clock has ticked
    folder_.Write("root/sets/a.tsv", "INSIDE");  // as long, and as old
    fs::last_write_time(path, time);
  } while (changed() == before);
  EXPECT_THAT(FaultOf(files.Open("sets/a.tsv", sum)),
              IsFault(FaultKind::kInconsistent, "sets/a.tsv: its SHA-256 is"));
}

TEST_F(DataRootTest, AnotherSumIsAFault) {
  VerifiedFiles files(Root());
  EXPECT_THAT(FaultOf(files.Open("sets/a.tsv", kAnotherSum)),
              IsFault(FaultKind::kInconsistent, kAnotherSum));
}

using ::testing::ElementsAre;
using namespace std::string_literals;

class LineReaderTest : public ::testing::Test {
 protected:
  std::vector<std::string> Lines(std::string_view bytes) {
    LineReader reader(folder_.Open(bytes));
    std::vector<std::string> lines;
    std::string_view line;
    while (true) {
      const Expected<bool> more = reader.Next(line);
      if (!more.ok()) fault_ = more.fault();
      if (!more.ok() || !more.value()) return lines;
      lines.emplace_back(line);
    }
  }

  DataFolder folder_;
  Fault fault_;
};

TEST_F(LineReaderTest, EndsLinesInEveryWay) {
  EXPECT_THAT(Lines("a\nb\r\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(Lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(Lines(""), ElementsAre());
  EXPECT_THAT(Lines("a\rb\n"), ElementsAre("a\rb"));
}

TEST_F(LineReaderTest, PassesOverAByteOrderMark) {
  EXPECT_THAT(Lines("\xEF\xBB\xBFquality\n\xEF\xBB\xBFx"),
              ElementsAre("quality", "\xEF\xBB\xBFx"));
}

TEST_F(LineReaderTest, AMillionCharactersAreALine) {
  const std::string sentence(1'000'000, 'x');
  EXPECT_THAT(Lines("a\n" + sentence + "\nb"), ElementsAre("a", sentence, "b"));
}

TEST_F(LineReaderTest, TheLimitIsAMebibyte) {
  const std::string most(kMaxDataLineBytes, 'x');
  EXPECT_THAT(Lines(most + "\r\n" + most), ElementsAre(most, most));
  EXPECT_THAT(Lines("a\n" + most + "x\nb"), ElementsAre("a"));
  EXPECT_THAT(fault_, IsFault(FaultKind::kTooLarge, "file line 2: is longer"));
  Lines(std::string(3 * kMaxDataLineBytes, 'x'));
  EXPECT_THAT(fault_, IsFault(FaultKind::kTooLarge, "line 1: is longer"));
}

TEST_F(LineReaderTest, LinesCrossTheBordersOfChunks) {
  std::string bytes;
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i) {
    lines.emplace_back(static_cast<std::size_t>(i * 67 % 20'011), 'a');
    bytes += lines.back() + "\n";
  }
  EXPECT_EQ(Lines(bytes), lines);
}

TEST_F(LineReaderTest, ANulIsAFault) {
  EXPECT_THAT(Lines("a\nb\0c\n"s), ElementsAre("a"));
  EXPECT_THAT(fault_, IsFault(FaultKind::kSyntax, "line 2: has a NUL"));
}

TEST_F(LineReaderTest, WhatIsNotUtf8IsAFault) {
  EXPECT_THAT(Lines("caf\xC3\xA9\ncaf\xE9\n"), ElementsAre("caf\xC3\xA9"));
  EXPECT_THAT(fault_,
              IsFault(FaultKind::kSyntax, "line 2: is not UTF-8 at byte 4"));
}

// A line with the given id, form and tag.
std::string Line(const std::string& id, const std::string& form,
                 const std::string& upos) {
  return id + "\t" + form + "\t_\t" + upos + "\t_\t_\t0\troot\t_\t_\n";
}

std::string ConlluRows(std::string_view bytes,
                       const std::vector<std::string>& columns = {"form",
                                                                  "upos"}) {
  return DataFolder().Rows(bytes, ConlluFile(), columns);
}

TEST(Conllu, ASentenceIsARow) {
  EXPECT_EQ(ConlluRows("# sent_id = 1\n" + Line("1", "They", "PRON") +
                       Line("2", "ran", "VERB") + "\n# text = Go\n" +
                       Line("1", "Go", "VERB") + "\n"),
            "They,ran|PRON,VERB;Go|VERB");
}

TEST(Conllu, RangesAndEmptyNodesArePassedOver) {
  EXPECT_EQ(ConlluRows(Line("0.1", "zero", "X") + Line("1-2", "don't", "_") +
                       Line("1", "do", "AUX") + Line("2", "n't", "PART") +
                       Line("2.1", "go", "VERB") + Line("3", "it", "PRON")),
            "do,n't,it|AUX,PART,PRON");
}

TEST(Conllu, TheLastSentenceNeedsNoEmptyLine) {
  std::string bytes = Line("1", "Go", "VERB");
  bytes.pop_back();
  EXPECT_EQ(ConlluRows(bytes), "Go|VERB");
}

TEST(Conllu, EmptyBlocksAreNoSentences) {
  EXPECT_EQ(ConlluRows("# global.columns = ID\n\n\n" + Line("1", "a", "X") +
                       "\r\n\n\n" + Line("1", "b", "X") + "\n# end\n"),
            "a|X;b|X");
}

TEST(Conllu, AFormMayHoldBlanks) {
  EXPECT_EQ(ConlluRows(Line("1", "10 000", "NUM"), {"form"}), "10 000");
}

TEST(Conllu, EveryColumnCanBeAsked) {
  EXPECT_EQ(ConlluRows("1\ta\tb\tc\td\te\t0\tg\th\ti\n",
                       {"lemma", "xpos", "deprel", "misc", "2"}),
            "b|d|g|i|a");
  EXPECT_THAT(ConlluRows(Line("1", "a", "X"), {"pos"}),
              HasSubstr("no column 'pos'"));
}

TEST(Conllu, BrokenLinesAreNamed) {
  const std::string good = Line("1", "a", "X");
  EXPECT_THAT(ConlluRows(good + "2\tb\tX\n"),
              HasSubstr("line 2: has 3 columns"));
  EXPECT_THAT(ConlluRows("1\ta\t_\tX\t_\t_\t0\tr\t_\t_\t_\n"),
              HasSubstr("line 1: has 11 columns"));
  EXPECT_THAT(ConlluRows(good + Line("2", "", "X")),
              HasSubstr("line 2: has an empty"));
  EXPECT_THAT(ConlluRows("no tabs here\n"), HasSubstr("line 1: has 1 columns"));
}

TEST(Conllu, IdsMustFollowEachOther) {
  for (const char* id : {"3", "0", "1", "x", "-1", "2-2", "3-4", "1.0", "2.1",
                         "2-", "99999999999", "", "2.x", "+2"}) {
    EXPECT_THAT(ConlluRows(Line("1", "a", "X") + Line(id, "b", "X")),
                HasSubstr("line 2: its id"))
        << id;
  }
}

TEST(Conllu, ASentenceHasALimit) {
  const std::string word(1'000'000, 'x');
  EXPECT_THAT(ConlluRows(Line("1", word, "X") + Line("2", word, "X")),
              HasSubstr("line 2: the sentence is longer than 1 MiB"));
}

class DelimitedTest : public ::testing::Test {
 protected:
  std::string Tab(std::string_view bytes,
                  const std::vector<std::string>& columns) {
    return folder_.Rows(bytes, Tsv(), columns);
  }
  std::string Comma(std::string_view bytes,
                    const std::vector<std::string>& columns) {
    return folder_.Rows(bytes, Csv(), columns);
  }

  DataFolder folder_;
};

TEST_F(DelimitedTest, ReadsColumnsByName) {
  EXPECT_EQ(Tab("label\tsentence\r\n1\tgood\r\n0\tbad", {"sentence", "label"}),
            "good|1;bad|0");
}

TEST_F(DelimitedTest, ReadsColumnsByNumberAndByGivenNames) {
  EXPECT_EQ(folder_.Rows("1\tx.txt\tgood\n", Tsv(false), {"3", "1"}), "good|1");
  FileFormat named = Tsv(false);
  named.names = {"label", "file", "text"};
  EXPECT_EQ(folder_.Rows("1\tx.txt\tgood\n", named, {"text"}), "good");
}

TEST_F(DelimitedTest, ANameGoesBeforeANumber) {
  EXPECT_EQ(Tab("2\t1\na\tb\n", {"2", "1"}), "a|b");
}

TEST_F(DelimitedTest, AColumnThatIsNotThereIsNamed) {
  auto missing = OpenRows(folder_.Open("a\tb\n1\t2\n"), Tsv(), {"text"});
  EXPECT_THAT(FaultOf(missing),
              IsFault(FaultKind::kInconsistent, "no column 'text'"));
  EXPECT_THAT(missing.fault().fix, HasSubstr("'a', 'b'"));
  EXPECT_THAT(Tab("a\tb\n1\t2\n", {"3"}), HasSubstr("no column '3'"));
  EXPECT_THAT(Tab("a\ta\n1\t2\n", {"a"}), HasSubstr("two columns 'a'"));
}

TEST_F(DelimitedTest, InTsvAQuoteIsText) {
  EXPECT_EQ(Tab("text\tlabel\n\"He said\t1\n5\" \"x\"\t0\n", {"text", "label"}),
            "\"He said|1;5\" \"x\"|0");
}

TEST_F(DelimitedTest, InCsvAQuotedFieldHoldsAnything) {
  EXPECT_EQ(Comma("text,label\n\"a, \"\"b\"\"\",1\n\"\",0\n\"x\r\ny\",1\n",
                  {"text", "label"}),
            "a, \"b\"|1;|0;x\ny|1");
}

TEST_F(DelimitedTest, InCsvAQuoteWithinAFieldIsText) {
  EXPECT_EQ(Comma("text,label\n5\" disk,1\n", {"text"}), "5\" disk");
}

TEST_F(DelimitedTest, CsvMayHaveOtherDelimiters) {
  EXPECT_EQ(folder_.Rows("\tid\ttext\n0\tx\t\"a\tb\"\n", Csv('\t'), {"text"}),
            "a\tb");
  EXPECT_EQ(folder_.Rows("a;b\n1,5;2\n", Csv(';'), {"a", "b"}), "1,5|2");
}

TEST_F(DelimitedTest, AQuoteThatIsNotClosedNamesItsLine) {
  EXPECT_THAT(Comma("t,l\na,1\n\"b\nc,1\nd,1\n", {"t"}),
              HasSubstr("line 3: opens a quote that is never closed"));
  EXPECT_THAT(Comma("t,l\n\"b\"c,1\n", {"t"}), HasSubstr("line 2: goes on"));
  const std::string endless(kMaxDataLineBytes - 10, 'x');
  EXPECT_THAT(Comma("t\n\"" + endless + "\n" + endless + "\n", {"t"}),
              HasSubstr("line 2: opens a quote that runs on"));
}

TEST_F(DelimitedTest, ARowOfAnotherWidthIsAFault) {
  EXPECT_THAT(Tab("a\tb\n1\t2\n3\n", {"a"}),
              HasSubstr("line 3: has 1 columns"));
  EXPECT_THAT(Comma("a,b\n1,2,3\n", {"a"}), HasSubstr("line 2: has 3 columns"));
}

TEST_F(DelimitedTest, LinesAreCountedThroughQuotes) {
  EXPECT_THAT(Comma("a,b\n\"1\n1\",2\n3\n", {"a"}), HasSubstr("line 4: has 1"));
}

TEST_F(DelimitedTest, EmptyLinesArePassedOver) {
  EXPECT_EQ(Tab("a\tb\n\n1\t2\n\r\n", {"a"}), "1");
}

TEST_F(DelimitedTest, GivenNamesMustFit) {
  FileFormat named = Tsv(false);
  named.names = {"label", "text"};
  EXPECT_THAT(folder_.Rows("1\tx\ty\n", named, {"text"}),
              HasSubstr("line 1: has 3 columns, the registry names 2"));
}

TEST_F(DelimitedTest, AnEmptyFileIsAFault) {
  EXPECT_THAT(Tab("", {"a"}), HasSubstr("has no rows"));
  EXPECT_THAT(Tab(std::string(2000, '\t'), {"1"}),
              HasSubstr("more than 1,000 columns"));
}

std::string JsonlRows(std::string_view bytes,
                      const std::vector<std::string>& columns) {
  return DataFolder().Rows(bytes, Jsonl(), columns);
}

TEST(Jsonl, ReadsTextsNumbersAndBooleans) {
  EXPECT_EQ(JsonlRows("{\"t\": \"a\\n\\u00e9\", \"l\": 1}\n\n"
                      "{\"l\": 1.0, \"t\": \"b\", \"x\": {}}\r\n"
                      "{\"l\": true, \"t\": 2.5}",
                      {"t", "l"}),
            "a\n\xC3\xA9|1;b|1;2.5|true");
}

TEST(Jsonl, ReadsLists) {
  EXPECT_EQ(JsonlRows("{\"w\": [\"a\", \"b\"], \"t\": []}", {"w", "t"}),
            "a,b|");
}

TEST(Jsonl, NullAndAbsenceAreTheSame) {
  EXPECT_EQ(JsonlRows("{\"t\": null}", {"t", "l"}), "(absent)|(absent)");
}

TEST(Jsonl, BrokenLinesAreNamed) {
  EXPECT_THAT(JsonlRows("{\"t\": 1}\n{\"t\": \"a\n", {"t"}),
              HasSubstr("line 2: "));
  EXPECT_THAT(JsonlRows("[1]", {"t"}),
              HasSubstr("line 1: is not a JSON object"));
  EXPECT_THAT(JsonlRows("{\"t\": {}}", {"t"}),
              HasSubstr("line 1: 't' is neither"));
  EXPECT_THAT(JsonlRows("{\"t\": [1]}", {"t"}),
              HasSubstr("line 1: 't' is neither"));
  EXPECT_THAT(JsonlRows("{\"t\": 1, \"t\": 2}", {"t"}), HasSubstr("line 1: "));
}

}  // namespace
}  // namespace frostline::trainer
