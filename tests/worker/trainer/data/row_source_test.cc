// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/delimited.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace frostline::trainer
