// SPDX-License-Identifier: Apache-2.0
#include "importance/evenness.h"

#include <cmath>

#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

MeasuredAxis AxisOf(const Domain& domain) {
  return MeasureSpace(Space({{"x", domain, {}}}, {}, std::nullopt))[0];
}

// So many trials of each code from 0 on.
std::vector<double> CodesOf(const std::vector<int>& counts) {
  std::vector<double> codes;
  double code = 0.0;
  for (const int count : counts) {
    codes.insert(codes.end(), static_cast<std::size_t>(count), code);
    code += 1.0;
  }
  return codes;
}

const Levels kFour{{0, 1, 2, 3}};

TEST(Evenness, TrialsSpreadEvenlyAllCount) {
  const Evenness even = FindEvenness(AxisOf(kFour), CodesOf({5, 5, 5, 5}));
  EXPECT_NEAR(even.effective_trials, 20.0, 1e-9);
  EXPECT_GT(even.log_chance, std::log(0.5));
}

TEST(Evenness, ACrowdCountsAsTheLevelsItLeavesAllow) {
  const Evenness crowd = FindEvenness(AxisOf(kFour), CodesOf({61, 1, 2, 4}));
  EXPECT_NEAR(crowd.effective_trials,
              16.0 / (1.0 / 61 + 1.0 / 1 + 1.0 / 2 + 1.0 / 4), 1e-9);
  EXPECT_LT(crowd.log_chance, std::log(1e-9));
}

TEST(Evenness, ALevelNobodyTriedCountsAsTriedHalfATime) {
  const Evenness gap = FindEvenness(AxisOf(kFour), CodesOf({8, 8, 8, 0}));
  EXPECT_NEAR(gap.effective_trials, 16.0 / (3.0 / 8.0 + 2.0), 1e-9);
  // A chi-squared of 3 degrees of freedom is 8 or more in 4.6 % of draws.
  EXPECT_NEAR(std::exp(gap.log_chance), 0.046, 0.003);
}

TEST(Evenness, FrozenCountsByItsShareOfTheSpace) {
  const MeasuredAxis axis = AxisOf(LogUniform{1e-9, 1e-3, true});
  std::vector<double> codes(20, -1.0);
  for (int i = 0; i < 80; ++i) codes.push_back((i + 0.5) / 80.0);
  EXPECT_NEAR(FindEvenness(axis, codes).effective_trials, 100.0, 1e-6);
  codes.resize(20);
  EXPECT_LT(FindEvenness(axis, codes).effective_trials, 8.0);
}

TEST(Evenness, AParameterThatCannotVaryIsEven) {
  const Evenness one =
      FindEvenness(AxisOf(Levels{{0}}), std::vector<double>(9, 0.0));
  EXPECT_EQ(one.log_chance, 0.0);
  EXPECT_EQ(one.effective_trials, 9.0);
}

}  // namespace
}  // namespace frostline
