// SPDX-License-Identifier: Apache-2.0
#include "statistics/law.h"

#include <vector>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "tests/statistics/reference.h"

namespace frostline::statistics {
namespace {

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

}  // namespace
}  // namespace frostline::statistics
