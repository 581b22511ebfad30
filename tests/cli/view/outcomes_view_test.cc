// SPDX-License-Identifier: Apache-2.0
#include "cli/view/outcomes_view.h"

#include <cstring>
#include <sstream>

#include "base/plain/predictions_file.h"
#include "gmock/gmock.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// True a a a b, predicted a a b none; confidences 1, 0.5, 1, 0.
v1::ExampleOutcomes Classes() {
  v1::ExampleOutcomes outcomes;
  outcomes.set_count(4);
  outcomes.add_classes("a");
  outcomes.add_classes("b");
  outcomes.set_true_class(std::string("\0\0\0\1", 4));
  outcomes.set_predicted_class(std::string("\0\0\1\2", 4));
  outcomes.set_confidence(std::string("\0\x3c\0\x38\0\x3c\0\0", 8));
  return outcomes;
}

std::string Floats(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values) {
    char four[4];
    std::memcpy(four, &value, 4);
    bytes.append(four, 4);
  }
  return bytes;
}

v1::ExampleOutcomes Numbers() {
  v1::ExampleOutcomes outcomes;
  outcomes.set_count(4);
  outcomes.set_true_value(Floats({0, 1, 2, 3}));
  outcomes.set_predicted_value(Floats({1, 3, 5, 9}));  // 1 + 2 x, one beside
  return outcomes;
}

TEST(OutcomesView, AConfusionCountsPairsAndScoresEachClass) {
  const std::string text = RenderConfusion(Classes(), 0);
  EXPECT_THAT(text, HasSubstr("(cut off)"));
  // a: two of three found, and nothing else taken for it.
  EXPECT_THAT(text, HasSubstr("0.6667"));
  EXPECT_THAT(text, HasSubstr("accuracy 0.5"));
  EXPECT_THAT(ConfusionToJson(Classes()), HasSubstr("\"recall\""));
}

TEST(OutcomesView, ResidualsHaveALine) {
  const LinearFit fit = FitLine(Unpack(Numbers()));
  EXPECT_NEAR(fit.slope, 2.6, 1e-12);
  EXPECT_NEAR(fit.intercept, 0.6, 1e-12);
  const std::string text = RenderConfusion(Numbers(), 0);
  EXPECT_THAT(text, HasSubstr("6 of example 3"));
  EXPECT_THAT(text, HasSubstr("2.6 * true"));
}

TEST(OutcomesView, TheSurestMistakesComeFirst) {
  const auto groups = PickExamples(Unpack(Classes()), 1);
  ASSERT_EQ(groups.size(), 4);
  EXPECT_THAT(groups[0].examples, ElementsAre(2));  // wrong, most confident
  EXPECT_THAT(groups[2].examples, ElementsAre(1));  // right, least confident
  EXPECT_THAT(groups[3].examples, ElementsAre(0));
  const auto numbers = PickExamples(Unpack(Numbers()), 1);
  EXPECT_THAT(numbers[0].examples, ElementsAre(2));
}

TEST(OutcomesView, WhatWasNotToldIsSaid) {
  v1::ExampleOutcomes marks;
  marks.set_count(4);
  EXPECT_THAT(RenderConfusion(marks, 0), HasSubstr("right or wrong alone"));
}

TEST(OutcomesView, TextsStandBesideTheirExamples) {
  const ExampleTable table = Unpack(Classes());
  const std::string text =
      RenderExamples(PickExamples(table, 1), table, {{2, "a fine film"}}, 0);
  EXPECT_THAT(text, HasSubstr("a fine film"));
}

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
