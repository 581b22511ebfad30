// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/rng.h"
#include "gtest/gtest.h"
#include "importance/ranking.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

Space SpaceOf(const std::vector<std::string>& names) {
  std::vector<Parameter> parameters;
  for (const std::string& name : names) {
    parameters.push_back({name, Levels{{0.0, 1e-5}}, {}});
  }
  return Space(parameters, {}, std::nullopt);
}

Report ReportOf(const std::vector<double>& shares) {
  Report report;
  for (const double share : shares) {
    ParameterImportance one;
    one.parameter = static_cast<int>(report.parameters.size());
    one.main.value = share;
    report.parameters.push_back(one);
  }
  return report;
}

// Draws around the values, in all of which the noise is the same for a seed.
Report DrawnReport(const std::vector<double>& shares, double deviation,
                   std::uint64_t seed) {
  Report report = ReportOf(shares);
  Rng rng(seed);
  for (int k = 0; k < 500; ++k) {
    std::vector<double> draw = shares;
    for (double& share : draw) share += deviation * rng.Normal();
    report.main_draws.push_back(draw);
  }
  return report;
}

TEST(Compare, TakesSharesAmongTheSharedParametersByName) {
  const Space first = SpaceOf({"a", "b", "own"});
  const Space second = SpaceOf({"other", "b", "a"});
  ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                       CompareReports({first, ReportOf({0.3, 0.1, 0.5})},
                                      {second, ReportOf({0.6, 0.3, 0.1})}));
  ASSERT_EQ(comparison.shifts.size(), 2u);
  EXPECT_EQ(comparison.shifts[0].parameter, "a");
  EXPECT_DOUBLE_EQ(comparison.shifts[0].first.value, 0.75);
  EXPECT_DOUBLE_EQ(comparison.shifts[0].second.value, 0.25);
  EXPECT_DOUBLE_EQ(comparison.rank_agreement.value, -1.0);
  EXPECT_EQ(comparison.only_first, std::vector<std::string>{"own"});
  EXPECT_EQ(comparison.only_second, std::vector<std::string>{"other"});
}

TEST(Compare, FewerThanTwoSharedParametersAreNoRanking) {
  const Space first = SpaceOf({"a", "b"}), second = SpaceOf({"b", "c"});
  const Report report = ReportOf({0.5, 0.5});
  EXPECT_THAT(CompareReports({first, report}, {second, report}),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST(Compare, WithoutDrawsNothingIsToldApart) {
  const Space space = SpaceOf({"a", "b"});
  const Report drawn = DrawnReport({0.1, 0.9}, 0.01, 1);
  ASSERT_OK_AND_ASSIGN(
      const Comparison comparison,
      CompareReports({space, ReportOf({0.9, 0.1})}, {space, drawn}));
  const Interval& tau = comparison.rank_agreement;
  EXPECT_EQ(tau.lo95, tau.value);
  EXPECT_EQ(tau.hi95, tau.value);
  EXPECT_EQ(comparison.shifts[0].first.hi95, 0.9);
  EXPECT_FALSE(comparison.shifts[0].distinguishable);
  EXPECT_EQ(comparison.sentence,
            "2 shared parameters, ranked with tau -1.00; without intervals "
            "nothing can be told apart");
}

TEST(Compare, AShiftThatIsClearOfChanceIsNamed) {
  const Space space = SpaceOf({"a", "b", "c"});
  const Report one = DrawnReport({0.5, 0.3, 0.2}, 0.01, 1);
  const Report two = DrawnReport({0.4, 0.3, 0.3}, 0.01, 2);
  ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                       CompareReports({space, one}, {space, two}));
  EXPECT_TRUE(comparison.shifts[0].distinguishable);
  EXPECT_FALSE(comparison.shifts[1].distinguishable);
  EXPECT_TRUE(comparison.shifts[2].distinguishable);
  EXPECT_NE(comparison.sentence.find("1 of 3 shared parameters"),
            std::string::npos);
  EXPECT_NE(comparison.sentence.find(
                "; a matters more in the first; c matters more in the second"),
            std::string::npos);
}

// Both reports have the same noise, draw for draw: it must not cancel.
TEST(Compare, DrawsOfOneSeedDoNotErrTogether) {
  const Space space = SpaceOf({"a", "b", "c"});
  const Report report = DrawnReport({0.36, 0.33, 0.31}, 0.1, 1);
  ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                       CompareReports({space, report}, {space, report}));
  EXPECT_EQ(comparison.rank_agreement.value, 1.0);
  EXPECT_LT(comparison.rank_agreement.lo95, 0.0);
}

// Reports of two studies of one truth: draws are around what each has seen.
TEST(Compare, ChanceIsSeldomTakenForAShift) {
  const Space space = SpaceOf({"a", "b", "c", "d", "e"});
  int alarms = 0;
  Rng rng(5);
  for (std::uint64_t run = 0; run < 200; ++run) {
    std::vector<double> seen[2];
    for (std::vector<double>& shares : seen) {
      shares = {0.3, 0.25, 0.2, 0.15, 0.1};
      for (double& share : shares) share += 0.01 * rng.Normal();
    }
    const Report one = DrawnReport(seen[0], 0.01, 2 * run);
    const Report two = DrawnReport(seen[1], 0.01, 2 * run + 1);
    ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                         CompareReports({space, one}, {space, two}));
    for (const ParameterShift& shift : comparison.shifts) {
      if (shift.distinguishable) {
        ++alarms;
        break;
      }
    }
  }
  EXPECT_LE(alarms, 20);  // of 200; 10 are expected, at most
}

TEST(KendallTau, CountsPairsInOrderLessPairsOutOfOrder) {
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {10, 20, 30, 40}), 1.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {4, 3, 2, 1}), -1.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 2, 3, 4}, {1, 3, 2, 4}), 4.0 / 6.0);
}

TEST(KendallTau, LeavesTiesOutOfEitherSidesPairs) {
  // Five pairs in order, one is tied in a alone.
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 2, 3}, {1, 2, 3, 4}),
                   5.0 / std::sqrt(5.0 * 6.0));
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 2}, {5, 5, 9}), 1.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 1}, {1, 2, 3}), 0.0);
  EXPECT_DOUBLE_EQ(KendallTau({1, 1, 1}, {2, 2, 2}), 1.0);
}

TEST(IsOrderChanged, OnlyWhereTheLowerOneHasClearlyMore) {
  const std::vector<double> ranked = {0.5, 0.3, 0.2};
  EXPECT_FALSE(IsOrderChanged(ranked, {0.5, 0.3, 0.2}));
  EXPECT_FALSE(IsOrderChanged(ranked, {0.37, 0.43, 0.2}));  // by a seventh
  EXPECT_TRUE(IsOrderChanged(ranked, {0.35, 0.45, 0.2}));   // by over a fifth
  EXPECT_TRUE(IsOrderChanged(ranked, {0.3, 0.3, 0.4}));
  EXPECT_FALSE(IsOrderChanged({0.9, 0.02, 0.01}, {0.9, 0.001, 0.01}));
}

// Neither neighbour is passed clearly, but the first is by the last.
TEST(IsOrderChanged, ComparesNotNeighboursAlone) {
  EXPECT_TRUE(IsOrderChanged({0.3, 0.2, 0.1}, {0.3, 0.34, 0.4}));
}

TEST(ChanceOfChange, FallsAsDrawsNarrow) {
  const std::vector<double> values = {0.6, 0.4};
  const std::vector<std::vector<double>> draws = {{0.6, 0.4}, {0.3, 0.7}};
  EXPECT_EQ(ChanceOfChange(values, draws, 1.0), 0.5);
  EXPECT_EQ(ChanceOfChange(values, draws, 0.5), 0.0);
  EXPECT_EQ(ChanceOfChange(values, {}, 1.0), 0.0);
}

}  // namespace
}  // namespace frostline::importance
