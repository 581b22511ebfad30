// SPDX-License-Identifier: Apache-2.0
#include "statistics/scores/scores.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "tests/statistics/scores/recordings.h"

namespace frostline::statistics {
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

}  // namespace
}  // namespace frostline::statistics
