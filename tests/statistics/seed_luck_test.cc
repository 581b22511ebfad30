// SPDX-License-Identifier: Apache-2.0
#include "statistics/seed_luck.h"

#include <algorithm>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "statistics/run_score.h"
#include "tests/statistics/reference.h"

namespace frostline::statistics {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;

// Two points ran with both seeds, of which the second is bad for both; a third
// was spared it.
TEST(JudgedPoints, ASeedThatIsBadForAllIsHeldAgainstNone) {
  const auto judged = JudgePoints(
      3, {{0, 1, .80}, {0, 2, .70}, {1, 1, .81}, {1, 2, .71}, {2, 1, .79}});
  EXPECT_GT(judged[0], judged[2]);
  EXPECT_GT(judged[1], judged[0]);
}

// Where a point falls and another does not, it was not the seed.
TEST(JudgedPoints, APointThatFallsAloneIsNotExcused) {
  const auto judged = JudgePoints(3, {{0, 1, .95},
                                      {0, 2, .40},
                                      {1, 1, .80},
                                      {1, 2, .80},
                                      {1, 3, .80},
                                      {2, 1, .79}});
  EXPECT_GT(judged[1], judged[2]);
  EXPECT_GT(judged[2], judged[0]);
}

TEST(JudgedPoints, AreTheMeansDrawnToAllWhereSeedsAreEqualForAll) {
  EXPECT_THAT(JudgePoints(2, {{0, 1, .8}, {0, 2, .7}, {1, 1, .7}, {1, 2, .6}}),
              ElementsAre(DoubleNear((2 * .75 + .7) / 3, 1e-12),
                          DoubleNear((2 * .65 + .7) / 3, 1e-12)));
}

// A retry with a seed of its own does not hide what the others tell.
TEST(JudgedPoints, AnOddSeedOfOneIsNoHindrance) {
  std::vector<PointRun> runs = {
      {0, 1, .80}, {0, 2, .70}, {1, 1, .81}, {1, 2, .71}, {2, 1, .795}};
  runs.push_back({3, 1, .60});
  runs.push_back({3, 77, .55});
  const auto judged = JudgePoints(4, runs);
  EXPECT_GT(judged[0], judged[2]);
  const SeedLuck luck = FindSeedLuck(4, runs);
  EXPECT_EQ(luck.seeds, 2u);
  EXPECT_NEAR(luck.of_run[0], .045, .01);
}

// As with `seeds: per_trial`: nothing says what is luck.
TEST(JudgedPoints, SeedsOfOneRunEachChangeNothing) {
  const auto own = JudgePoints(2, {{0, 1, .8}, {0, 2, .6}, {1, 3, .75}});
  const auto unknown = JudgePoints(2, {{0, 0, .8}, {0, 0, .6}, {1, 0, .75}});
  for (std::size_t p = 0; p < 2; ++p) EXPECT_NEAR(own[p], unknown[p], 1e-12);
}

TEST(JudgedPoints, OneThatNeverRanIsNotKnown) {
  EXPECT_THAT(JudgePoints(2, {{1, 7, .5}}), ElementsAre(IsNan(), .5));
  EXPECT_THAT(JudgePoints(1, {}), ElementsAre(IsNan()));
}

// A level and a unit of the metric are nothing to the order of points.
TEST(JudgedPoints, MoveWithTheValues) {
  const std::vector<PointRun> runs = {{0, 1, .8},  {0, 2, .7},  {1, 1, .7},
                                      {1, 2, .65}, {2, 1, .77}, {3, 4, .7}};
  std::vector<PointRun> moved = runs;
  for (PointRun& run : moved) run.value = 40 - 100 * run.value;
  const auto judged = JudgePoints(4, runs), other = JudgePoints(4, moved);
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_NEAR(other[p], 40 - 100 * judged[p], 1e-9);
  }
}

// As at the end of a search: the leaders ran with three seeds, all others with
// the first, which was the best by far.
TEST(JudgedPoints, APointThatRanOnceGainsNothingByIt) {
  constexpr std::size_t kPoints = 60, kOften = 6, kSeeds = 3;
  std::vector<PointRun> runs;
  for (std::size_t p = 0; p < kPoints; ++p) {
    for (std::size_t s = 0; s < (p < kOften ? kSeeds : 1); ++s) {
      // Luck .05 a seed and a rest that is no pattern.
      const double rest = std::sin(static_cast<double>(7 * p + 3 * s));
      runs.push_back(
          {p, s + 1, .7 - .05 * static_cast<double>(s) + .001 * rest});
    }
  }
  const auto judged = JudgePoints(kPoints, runs);
  const double often = *std::min_element(judged.begin(), judged.begin() + 6);
  const double once = *std::max_element(judged.begin() + 6, judged.end());
  EXPECT_NEAR(often, once, .002);
}

// Two thousand points have a seed in common, and no second one.
TEST(JudgedPoints, OneSeedInCommonTellsNoLuck) {
  std::vector<PointRun> runs;
  for (std::size_t p = 0; p < 2000; ++p) {
    runs.push_back({p, 1, 1e-4 * static_cast<double>(p)});
    runs.push_back({p, 2 + p, 1e-4 * static_cast<double>(p)});
  }
  const auto judged = JudgePoints(2000, runs);
  EXPECT_NEAR(judged[1999] - judged[0], 2.0 / 3.0 * .1999, 1e-9);
}

constexpr std::size_t kPoints = 300, kSeeds = 40;

// Each point runs with seeds 1 and 2 and three others, none with all.
std::vector<PointRun> ManySeeds() {
  std::vector<PointRun> runs;
  for (std::size_t p = 0; p < kPoints; ++p) {
    for (std::size_t i = 0; i < 5; ++i) {
      const std::size_t seed = i < 2 ? i : 2 + (7 * p + 11 * i) % (kSeeds - 2);
      const auto of_seed = static_cast<double>(seed);
      const double rest = std::sin(static_cast<double>(13 * p + 5 * i));
      runs.push_back({p, seed + 1,
                      .5 + .001 * static_cast<double>(p) +
                          .1 * std::cos(of_seed) + .01 * rest});
    }
  }
  return runs;
}

// Where the sum of squares is least, what is left of a seed's runs is its luck
// times w, which is one number for all seeds.
TEST(SeedLuck, OfManySeedsIsWhereTheSquaresAreLeast) {
  const std::vector<PointRun> runs = ManySeeds();
  const SeedLuck luck = FindSeedLuck(kPoints, runs);
  std::vector<double> scores(kPoints), left(kSeeds), lucks(kSeeds);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    scores[runs[r].point] += (runs[r].value - luck.of_run[r]) / 5;
    lucks[runs[r].seed - 1] = luck.of_run[r];
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    left[runs[r].seed - 1] +=
        runs[r].value - luck.of_run[r] - scores[runs[r].point];
  }
  const double weight = left[0] / lucks[0];
  EXPECT_GT(weight, 0.0);
  for (std::size_t s = 0; s < kSeeds; ++s) {
    EXPECT_NEAR(left[s], weight * lucks[s], 1e-9) << s;
  }
}

TEST(SeedLuck, IsThatOfTheSeedAndNotOfThePoint) {
  const std::vector<PointRun> runs = ManySeeds();
  const SeedLuck luck = FindSeedLuck(kPoints, runs);
  EXPECT_EQ(luck.seeds, kSeeds);
  double mean = 0.0;
  for (std::size_t s = 0; s < kSeeds; ++s) {
    mean += .1 * std::cos(static_cast<double>(s)) / kSeeds;
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const double true_luck =
        .1 * std::cos(static_cast<double>(runs[r].seed - 1)) - mean;
    EXPECT_NEAR(luck.of_run[r], true_luck, .01) << runs[r].seed;
  }
}

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
