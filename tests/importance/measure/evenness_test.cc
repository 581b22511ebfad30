// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/evenness.h"

#include <cmath>

#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
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

TEST(Evenness, AnEvenSpreadIsLikely) {
  EXPECT_GT(LogChanceOfUneven(AxisOf(kFour), CodesOf({5, 5, 5, 5})),
            std::log(0.5));
}

TEST(Evenness, ACrowdIsNot) {
  EXPECT_LT(LogChanceOfUneven(AxisOf(kFour), CodesOf({61, 1, 2, 4})),
            std::log(1e-9));
}

TEST(Evenness, ALevelNobodyTriedCounts) {
  // A chi-squared of 3 degrees of freedom is 8 or more in 4.6 % of draws.
  EXPECT_NEAR(std::exp(LogChanceOfUneven(AxisOf(kFour), CodesOf({8, 8, 8, 0}))),
              0.046, 0.003);
}

TEST(Evenness, FrozenCountsByItsShareOfTheSpace) {
  const MeasuredAxis axis = AxisOf(LogUniform{1e-9, 1e-3, true});
  std::vector<double> codes(20, -1.0);
  for (int i = 0; i < 80; ++i) codes.push_back((i + 0.5) / 80.0);
  EXPECT_GT(LogChanceOfUneven(axis, codes), std::log(0.5));
  codes.resize(20);
  EXPECT_LT(LogChanceOfUneven(axis, codes), std::log(1e-9));
}

TEST(Evenness, AParameterThatCannotVaryIsEven) {
  EXPECT_EQ(LogChanceOfUneven(AxisOf(Levels{{0}}), std::vector<double>(9, 0.0)),
            0.0);
}

}  // namespace
}  // namespace frostline::importance
