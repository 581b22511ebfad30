// SPDX-License-Identifier: Apache-2.0
#include "statistics/law.h"

#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "tests/statistics/reference.h"

namespace frostline::statistics {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

TEST(McNemar, EqualsScipysBinomialTest) {
  for (const auto& row : Reference("mcnemar")) {
    EXPECT_NEAR(McNemarP(row["gained"], row["lost"]), row["p"].get<double>(),
                1e-11)
        << row;
  }
}

TEST(McNemar, DoesNotMindWhichIsFirst) {
  EXPECT_EQ(McNemarP(31, 12), McNemarP(12, 31));
}

TEST(McNemar, AnswersForMillions) {
  EXPECT_NEAR(McNemarP(1'000'000, 1'002'000), 0.15771, 1e-5);
}

TEST(Signs, EqualsTheCountOfAllChoices) {
  for (const auto& row : Reference("signs")) {
    const std::vector<std::int64_t> differences = row["differences"];
    EXPECT_NEAR(SignsP(differences), row["p"].get<double>(), 1e-12) << row;
  }
}

TEST(Signs, OfOnesIsMcNemar) {
  EXPECT_EQ(SignsP(std::vector<std::int64_t>{1, 1, -1, 0, 1, 1, 1, 1}),
            McNemarP(6, 1));
  EXPECT_EQ(SignsP({}), 1.0);
}

TEST(Signs, TheNormalLawGoesOnWhereCountingEnds) {
  // 9,998 counted beside 10,002 by the law: much alike.
  Rng rng(1);
  std::vector<std::int64_t> differences;
  for (int i = 0; i < 4999; ++i) differences.push_back(rng.Below(2) ? 2 : -2);
  const double counted = SignsP(differences);
  differences.push_back(2);
  differences.push_back(-2);
  EXPECT_NEAR(SignsP(differences), counted, 0.02);
}

TEST(Distributions, EqualScipys) {
  for (const auto& row : Reference("laws")) {
    const double x = row["x"], freedom = row["freedom"], p = row["p"];
    const std::string law = row["law"];
    const double ours =
        law == "student"  ? StudentBelow(x, freedom)
        : law == "normal" ? NormalBelow(x)
                          : CoinAtMost(std::llround(x), std::llround(freedom));
    EXPECT_NEAR(ours, p, 1e-11) << row;
  }
}

TEST(Distributions, QuantilesAreTheOtherWayRound) {
  for (const double p : {0.001, 0.2, 0.5, 0.975}) {
    EXPECT_NEAR(NormalBelow(NormalQuantile(p)), p, 1e-12);
    for (const double freedom : {1.0, 3.3, 1e5}) {
      EXPECT_NEAR(StudentBelow(StudentQuantile(p, freedom), freedom), p, 1e-12);
    }
  }
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(StudentQuantile(0.975, infinite), 1.959963984540054, 1e-12);
}

TEST(Holm, EqualsTheDefinition) {
  for (const auto& row : Reference("holm")) {
    EXPECT_THAT(HolmAdjusted(row["p"].get<std::vector<double>>()),
                Pointwise(DoubleNear(1e-12),
                          row["adjusted"].get<std::vector<double>>()));
  }
}

TEST(Holm, KeepsTheOrderAndIsNeverBelow) {
  const std::vector<double> p = {0.04, 0.01, 0.03};
  EXPECT_THAT(HolmAdjusted(p), ElementsAre(0.06, 0.03, 0.06));
  EXPECT_THAT(HolmAdjusted({0.6, 0.7}), ElementsAre(1.0, 1.0));
}

TEST(Holm, WhatWasNotTestedCountsAsNoTest) {
  const std::vector<double> adjusted = HolmAdjusted({std::nan(""), 0.03});
  EXPECT_TRUE(std::isnan(adjusted[0]));
  EXPECT_EQ(adjusted[1], 0.03);
}

TEST(Tango, EqualsTheScoreOfTheLikeliestRates) {
  for (const auto& row : Reference("tango")) {
    const PairedCounts counts = {row["examples"], row["gained"], row["lost"]};
    const Range range = TangoInterval(counts, NormalQuantile(0.975));
    EXPECT_NEAR(TangoScore(counts, -0.02), row["score"].get<double>(), 1e-5);
    EXPECT_NEAR(range.low, row["low"].get<double>(), 1e-6) << row;
    EXPECT_NEAR(range.high, row["high"].get<double>(), 1e-6) << row;
  }
}

// Exact: Student's distribution integrated and inverted.
TEST(StudentFromNormal, AgreesWithExactValues) {
  constexpr double k80 = 1.281552, k95 = 1.959964;
  EXPECT_NEAR(StudentFromNormal(k80, 5), 1.47588, 2e-4);
  EXPECT_NEAR(StudentFromNormal(k95, 5), 2.57058, 3e-3);
  EXPECT_NEAR(StudentFromNormal(k80, 9), 1.38303, 2e-5);
  EXPECT_NEAR(StudentFromNormal(k95, 9), 2.26216, 3e-4);
  EXPECT_NEAR(StudentFromNormal(-k95, 30), -2.04227, 1e-5);
}

TEST(LogChiSquaredTail, AgreesWithTables) {
  EXPECT_NEAR(std::exp(LogChiSquaredTail(12.592, 6)), 0.05, 0.002);
  EXPECT_NEAR(std::exp(LogChiSquaredTail(22.458, 6)), 0.001, 0.0001);
  EXPECT_LT(LogChiSquaredTail(1e6, 6), -1e3);
}

TEST(Tango, RunsThatAgreeEverywhereMayDifferElsewhere) {
  const Range range = TangoInterval({544, 0, 0}, NormalQuantile(0.975));
  EXPECT_NEAR(range.high, 0.0070, 1e-4);
  EXPECT_NEAR(range.low, -range.high, 1e-12);
}

TEST(SmallestProportion, IsConnorsNumberOfExamplesTheOtherWayRound) {
  for (const auto& row : Reference("smallest")) {
    const PairedCounts counts = {row["examples"], row["differing"], 0};
    EXPECT_NEAR(SmallestProportion(counts, 0.05, 0.8), row["d"].get<double>(),
                1e-9);
  }
}

TEST(SmallestProportion, IsNotBelowWhatTheExactTestCanShow) {
  // Six of one sign make p = 2 / 64, five 2 / 32.
  EXPECT_GE(SmallestProportion({544, 0, 0}, 0.05, 0.8), 6.0 / 544.0);
  EXPECT_NEAR(SmallestProportion({544, 13, 12}, 0.05, 0.8), 0.026, 5e-4);
}

}  // namespace
}  // namespace frostline::statistics
