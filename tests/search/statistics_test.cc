// SPDX-License-Identifier: Apache-2.0
#include "tests/search/statistics.h"

#include <gtest/gtest.h>

namespace frostline::test {
namespace {

// scipy.stats.mannwhitneyu(a, b, alternative="greater", method="asymptotic").
TEST(ProbabilityNotGreater, EqualsWhatScipySays) {
  const std::vector<double> a = {1.5, 2, 2, 3, 5, 8};
  const std::vector<double> b = {1, 1, 2, 2.5, 3};
  EXPECT_NEAR(ProbabilityNotGreater(a, b), 0.13334968445052153, 1e-12);
  EXPECT_NEAR(ProbabilityNotGreater(b, a), 0.902479801225649, 1e-12);
}

TEST(ProbabilityNotGreater, SaysNothingOfEqualValues) {
  EXPECT_EQ(ProbabilityNotGreater({2, 2, 2}, {2, 2}), 1.0);
}

}  // namespace
}  // namespace frostline::test
