// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "statistics/scores/scores.h"
#include "tests/statistics/scores/recordings.h"

namespace frostline::statistics {
namespace {

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
