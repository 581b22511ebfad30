// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/row_source.h"

#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;

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
