// SPDX-License-Identifier: Apache-2.0
#include "statistics/run_score.h"

#include "gmock/gmock.h"
#include "tests/statistics/reference.h"

namespace frostline::statistics {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Outcomes OutcomesOf(const nlohmann::json& row, const char* run) {
  Outcomes outcomes;
  if (row["kind"] == "classes") {
    outcomes.true_class = row["truth"].get<std::vector<std::int32_t>>();
    outcomes.predicted_class = row[run].get<std::vector<std::int32_t>>();
    outcomes.classes = {"no", "yes"};
  } else {
    outcomes.true_value = row["truth"].get<std::vector<double>>();
    outcomes.predicted_value = row[run].get<std::vector<double>>();
  }
  return outcomes;
}

// Two sentences: B-X I-X O | O B-X.
Outcomes Tagged() {
  Outcomes outcomes;
  outcomes.classes = {"O", "B-X", "I-X"};
  outcomes.true_class = {1, 2, 0, 0, 1};
  outcomes.predicted_class = {1, 2, 0, 0, 0};
  outcomes.sentence_ends = {3, 5};
  return outcomes;
}

TEST(RunScore, EqualsScikitLearnAlsoOfResamples) {
  int compared = 0;
  for (const auto& row : Reference("runs")) {
    const std::vector<std::uint32_t> times = row["times"];
    for (const auto& [metric, found] : row["metrics"].items()) {
      const auto score = MakeRunScore(metric, OutcomesOf(row, "first"));
      ASSERT_NE(score, nullptr) << metric;
      EXPECT_NEAR(score->At({}), found["once"].get<double>(), 1e-11) << metric;
      EXPECT_NEAR(score->At(times), found["weighted"].get<double>(), 1e-11)
          << metric;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 6);
}

TEST(RunScore, WhatStandsInASentenceIsDrawnTogether) {
  const auto accuracy = MakeRunScore("accuracy", Tagged());
  EXPECT_TRUE(accuracy->by_sentence());
  EXPECT_THAT(accuracy->sums(), ElementsAre(3.0, 1.0));
  const std::vector<std::uint32_t> first_twice = {2, 0}, second = {0, 1};
  EXPECT_EQ(accuracy->At(first_twice), 1.0);
  EXPECT_EQ(accuracy->At(second), 0.5);
  const auto f1 = MakeRunScore("f1", Tagged());
  EXPECT_NEAR(f1->At({}), 2.0 / 3.0, 1e-12);  // of spans: one of two found
  EXPECT_EQ(f1->At(second), 0.0);
}

TEST(RunScore, SaysWhatTheOutcomesHold) {
  EXPECT_THAT(MetricsOf(Tagged()),
              ElementsAre("accuracy", "f1", "f1_macro", "f1_micro", "mcc",
                          "precision", "recall"));
  Outcomes without_ends = Tagged();
  without_ends.sentence_ends.clear();
  EXPECT_EQ(MakeRunScore("f1", without_ends), nullptr);
  EXPECT_NE(MakeRunScore("f1_macro", without_ends), nullptr);
  Outcomes bits;
  bits.marks = {1.0F, 0.0F};
  bits.right_or_wrong = true;
  EXPECT_THAT(MetricsOf(bits), ElementsAre("accuracy"));
  EXPECT_EQ(MakeRunScore("f1", bits), nullptr);
  bits.right_or_wrong = false;
  EXPECT_THAT(MetricsOf(bits), IsEmpty());
  EXPECT_EQ(MakeRunScore("", bits)->At({}), 0.5);
}

}  // namespace
}  // namespace frostline::statistics
