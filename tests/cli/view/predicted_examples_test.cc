// SPDX-License-Identifier: Apache-2.0
#include "cli/view/predicted_examples.h"

#include <sstream>

#include "base/plain/predictions_file.h"
#include "gmock/gmock.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PredictedExamples Read(const std::string& text) {
  std::istringstream file(text);
  return PredictedExamples(file);
}

TEST(PredictedExamples, OfClasses) {
  const PredictedExamples read = Read(
      "label\tprediction\tconfidence\ttext\tsecond\n"
      "yes\tno\t0.75\ta\\tb\tc\n"
      "\tno\t0.5\tunknown\td\n"
      "no\tno\t1\tlast\te\n");
  EXPECT_THAT(read.table().classes, ElementsAre("yes", "no"));
  EXPECT_THAT(read.table().truth, ElementsAre(0, 1));
  EXPECT_THAT(read.table().predicted, ElementsAre(1, 1));
  EXPECT_THAT(read.table().confidence, ElementsAre(0.75F, 1.0F));
  EXPECT_EQ(read.TextOf(0), "a\tb | c");
  EXPECT_EQ(read.TextOf(1), "last | e");
}

TEST(PredictedExamples, OfNumbers) {
  const PredictedExamples read =
      Read("label\tprediction\ttext\n2.5\t3\tone\n0\t-1.5\ttwo\n");
  EXPECT_THAT(read.table().true_value, ElementsAre(2.5, 0.0));
  EXPECT_THAT(read.table().predicted_value, ElementsAre(3.0, -1.5));
  EXPECT_EQ(read.TextOf(1), "two");
}

TEST(PredictedExamples, OfWordsInTheirSentences) {
  const PredictedExamples read = Read(
      "word\tlabel\tprediction\tconfidence\n"
      "I\tPRON\tPRON\t0.9\nrun\tVERB\t\t\n\n"
      "dogs\t\t\t\nbark\tVERB\tNOUN\t0.6\n\n");
  EXPECT_THAT(read.table().predicted, ElementsAre(0, -1, 2));
  EXPECT_EQ(read.TextOf(1), "I [run]");
  EXPECT_EQ(read.TextOf(2), "dogs [bark]");
}

TEST(PredictedExamples, OfAnEmptyFileAndOfForeignLines) {
  EXPECT_THAT(Read("").table().truth, IsEmpty());
  EXPECT_THAT(Read("label\tprediction\tconfidence\ttext\nx\n").table().truth,
              IsEmpty());
}

TEST(UnescapeColumn, IsTheOppositeOfEscapeColumn) {
  for (const std::string text : {"a\tb\\n\r\nc", "\\", "plain", "\\\\t"}) {
    EXPECT_EQ(UnescapeColumn(EscapeColumn(text)), text);
  }
}

}  // namespace
}  // namespace frostline::cli
