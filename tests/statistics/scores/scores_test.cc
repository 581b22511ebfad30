// SPDX-License-Identifier: Apache-2.0
#include "statistics/scores/scores.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"

namespace frostline::statistics {

// What scikit-learn and scipy gave for random arrays: data/.

inline nlohmann::json ReadRecordings(const std::string& name) {
  const char* root = std::getenv("FROSTLINE_SOURCE_DIR");
  std::ifstream file(std::string(root == nullptr ? "." : root) +
                     "/tests/statistics/scores/data/" + name);
  return nlohmann::json::parse(file);
}

namespace {

using Labels = std::vector<std::int32_t>;

Confusion Count(const Labels& truth, const Labels& prediction) {
  std::int32_t most = 0;
  for (const Labels* labels : {&truth, &prediction}) {
    for (const std::int32_t label : *labels) most = std::max(most, label);
  }
  Confusion confusion(static_cast<std::size_t>(most) + 1);
  confusion.Add(truth, prediction);
  return confusion;
}

TEST(ClassificationMetrics, EqualScikitLearn) {
  int cases = 0;
  for (const auto& recorded : ReadRecordings("classification.json")) {
    const Confusion confusion = Count(recorded["y"], recorded["p"]);
    EXPECT_NEAR(confusion.Accuracy(), recorded["accuracy"], 1e-12);
    EXPECT_NEAR(confusion.MacroF1(), recorded["f1_macro"], 1e-12);
    EXPECT_NEAR(confusion.MicroF1(), recorded["f1_micro"], 1e-12);
    EXPECT_NEAR(confusion.Matthews(), recorded["matthews"], 1e-12);
    if (!recorded["f1_binary"].is_null()) {
      EXPECT_NEAR(confusion.BinaryF1(), recorded["f1_binary"], 1e-12);
    }
    ++cases;
  }
  EXPECT_EQ(cases, 20);
}

TEST(ClassificationMetrics, BatchesAddUp) {
  Confusion whole = Count({0, 1, 2, 2, 1}, {0, 2, 2, 1, 1});
  Confusion parts(3);
  parts.Add(Labels{0, 1}, Labels{0, 2});
  parts.Add(Labels{2, 2, 1}, Labels{2, 1, 1});
  EXPECT_EQ(parts.MacroF1(), whole.MacroF1());
  EXPECT_EQ(parts.Matthews(), whole.Matthews());
  EXPECT_EQ(parts.total(), 5U);
}

TEST(ClassificationMetrics, IgnoredLabelsAreLeftOut) {
  const Confusion confusion = Count({-100, 1, 0, -100}, {1, 1, 1, 0});
  EXPECT_EQ(confusion.total(), 2U);
  EXPECT_EQ(confusion.Accuracy(), 0.5);
}

TEST(ClassificationMetrics, MacroPassesOverClassesThatNobodySaw) {
  Confusion confusion(10);  // as of a subset that lacks most classes
  confusion.Add(Labels{3, 3, 7}, Labels{3, 3, 7});
  EXPECT_EQ(confusion.MacroF1(), 1.0);
}

TEST(ClassificationMetrics, WhatIsUndefinedIsZero) {
  const Confusion nothing(2);
  EXPECT_EQ(nothing.Accuracy(), 0.0);
  EXPECT_EQ(nothing.MacroF1(), 0.0);
  EXPECT_EQ(Count({1, 1}, {1, 1}).Matthews(), 0.0);
  EXPECT_EQ(Count({0, 0}, {0, 0}).BinaryF1(), 0.0);
}

TEST(ClassificationMetrics, MatthewsSurvivesManyWords) {
  // Given a confusion whose products pass 2^53, when half is wrong.
  Confusion confusion(2);
  const Labels truth(1 << 20, 1);
  const Labels zeros(1 << 20, 0);
  for (int i = 0; i < 200; ++i) {
    confusion.Add(truth, truth);
    confusion.Add(zeros, zeros);
  }
  EXPECT_NEAR(confusion.Matthews(), 1.0, 1e-12);
}

// As a class of its own that is never right; macro F1 has no part of it.
TEST(ClassificationMetrics, WhatHasNoPredictionIsWrong) {
  Confusion none(2);
  none.Add(Labels{0, 1, 1, 0}, Labels{0, 1, -1, -1});
  Confusion other(3);
  other.Add(Labels{0, 1, 1, 0}, Labels{0, 1, 2, 2});
  EXPECT_EQ(none.total(), 4U);
  EXPECT_EQ(none.Accuracy(), 0.5);
  EXPECT_DOUBLE_EQ(none.Matthews(), other.Matthews());
  EXPECT_DOUBLE_EQ(none.MacroF1(), 2.0 / 3.0);
}

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

using Numbers = std::vector<double>;

void ExpectSame(const std::optional<double>& ours, const nlohmann::json& theirs,
                int number) {
  ASSERT_EQ(ours.has_value(), !theirs.is_null()) << "case " << number;
  if (ours) {
    EXPECT_NEAR(*ours, theirs.get<double>(), 1e-11) << number;
  }
}

TEST(Correlation, EqualsScipy) {
  int cases = 0;
  for (const auto& recorded : ReadRecordings("regression.json")) {
    const Numbers truth = recorded["y"];
    const Numbers prediction = recorded["p"];
    ExpectSame(MeanSquaredError(truth, prediction), recorded["mse"], cases);
    ExpectSame(Pearson(truth, prediction), recorded["pearson"], cases);
    ExpectSame(Spearman(truth, prediction), recorded["spearman"], cases);
    ++cases;
  }
  EXPECT_EQ(cases, 20);
}

TEST(Correlation, EqualNumbersShareTheirRank) {
  // Ranks 1.5 1.5 3 against 1 2 3.
  EXPECT_NEAR(*Spearman(Numbers{4, 4, 9}, Numbers{1, 2, 3}), 0.8660254037844387,
              1e-15);
}

TEST(Correlation, IsNothingWhereNothingIsDefined) {
  EXPECT_FALSE(MeanSquaredError({}, {}));
  EXPECT_FALSE(Pearson({}, {}));
  EXPECT_FALSE(Pearson(Numbers{1}, Numbers{2}));
  EXPECT_FALSE(Pearson(Numbers{1, 2}, Numbers{3, 3}));
  EXPECT_FALSE(Spearman(Numbers{5, 5}, Numbers{3, 4}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Pearson(Numbers{1, 2}, Numbers{3, nan}));
  EXPECT_FALSE(Spearman(Numbers{1, 2}, Numbers{3, nan}));
}

TEST(Correlation, IsStableFarFromZero) {
  EXPECT_NEAR(*Pearson(Numbers{1e9 + 1, 1e9 + 2, 1e9 + 3}, Numbers{1, 2, 3}),
              1.0, 1e-9);
}

TEST(Correlation, StaysWithinOne) {
  const Numbers tiny = {1e-170, 3e-170, 2e-170};
  EXPECT_LE(Pearson(tiny, tiny).value_or(1.0), 1.0);
}

}  // namespace
}  // namespace frostline::statistics
