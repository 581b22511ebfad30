// SPDX-License-Identifier: Apache-2.0
#include "gmock/gmock.h"
#include "statistics/scores/scores.h"

namespace frostline::statistics {
namespace {

using Tags = std::vector<std::string_view>;

// "0-2 PER, 3-4 LOC"
std::string Spans(const Tags& tags) {
  std::string all;
  for (const TagSpan& span : SpansOf(tags)) {
    all += (all.empty() ? "" : ", ") + std::to_string(span.begin) + "-" +
           std::to_string(span.end) + " " + std::string(span.type);
  }
  return all;
}

TEST(SpansOf, ReadsBio) {
  EXPECT_EQ(Spans({"B-PER", "I-PER", "O", "B-LOC"}), "0-2 PER, 3-4 LOC");
  EXPECT_EQ(Spans({"B-PER", "B-PER"}), "0-1 PER, 1-2 PER");
  EXPECT_EQ(Spans({"O", "O"}), "");
  EXPECT_EQ(Spans({}), "");
}

TEST(SpansOf, AStrayInsideBeginsASpan) {
  EXPECT_EQ(Spans({"I-PER", "I-PER", "I-LOC", "O", "I-LOC"}),
            "0-2 PER, 2-3 LOC, 4-5 LOC");
  EXPECT_EQ(Spans({"B-PER", "I-LOC"}), "0-1 PER, 1-2 LOC");
}

TEST(SpansOf, ReadsBioesAndBilou) {
  EXPECT_EQ(Spans({"S-PER", "B-LOC", "I-LOC", "E-LOC", "I-LOC"}),
            "0-1 PER, 1-4 LOC, 4-5 LOC");
  EXPECT_EQ(Spans({"U-PER", "B-LOC", "L-LOC"}), "0-1 PER, 1-3 LOC");
}

TEST(MarkSpans, TellsSpansFromOtherTags) {
  EXPECT_TRUE(MarkSpans({"B-PER", "I-PER", "O"}));
  EXPECT_FALSE(MarkSpans({"NOUN", "VERB", "X"}));
  EXPECT_FALSE(MarkSpans({"O"}));
  EXPECT_FALSE(MarkSpans({"B-PER", "NOUN"}));
}

TEST(SpanF1, CountsWholeSpansOnly) {
  const std::vector<std::string> labels = {"O", "B-PER", "I-PER", "B-LOC"};
  SpanF1 f1(labels);
  // Three spans; the first is cut short, the second has the wrong type.
  f1.Add(std::vector<std::int32_t>{1, 2, 0, 3, 0, 1},
         std::vector<std::int32_t>{1, 0, 0, 1, 0, 1});
  EXPECT_DOUBLE_EQ(f1.Precision(), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(f1.Recall(), 1.0 / 3.0);
  f1.Add(std::vector<std::int32_t>{3}, std::vector<std::int32_t>{3});
  EXPECT_DOUBLE_EQ(f1.F1(), 0.5);
}

TEST(SpanF1, IgnoredWordsDoNotBreakASpan) {
  const std::vector<std::string> labels = {"O", "B-PER", "I-PER"};
  SpanF1 f1(labels);
  f1.Add(std::vector<std::int32_t>{1, -100, 2},
         std::vector<std::int32_t>{1, 0, 2});
  EXPECT_EQ(f1.F1(), 1.0);
}

TEST(SpanF1, AWordWithoutAPredictionIsInNoSpan) {
  const std::vector<std::string> labels = {"O", "B-PER", "I-PER"};
  SpanF1 f1(labels);
  f1.Add(std::vector<std::int32_t>{1, 0, 1, 2},
         std::vector<std::int32_t>{1, -1, 1, -1});
  EXPECT_DOUBLE_EQ(f1.Precision(), 0.5);
  EXPECT_DOUBLE_EQ(f1.Recall(), 0.5);
}

TEST(SpanF1, WithoutSpansIsZero) {
  const std::vector<std::string> labels = {"O"};
  SpanF1 f1(labels);
  f1.Add(std::vector<std::int32_t>{0}, std::vector<std::int32_t>{0});
  EXPECT_EQ(f1.F1(), 0.0);
  EXPECT_EQ(f1.Precision(), 0.0);
}

}  // namespace
}  // namespace frostline::statistics
