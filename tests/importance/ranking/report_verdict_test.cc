// SPDX-License-Identifier: Apache-2.0
#include "importance/ranking/report_verdict.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/importance/trials.h"

namespace frostline::importance {
namespace {

using ::testing::HasSubstr;

// Of layer.0, layer.1 and layer.2, in this order; `told` can be told from
// chance.
Report VerdictReportOf(const std::vector<double>& shares, int told,
                       std::vector<std::vector<double>> draws) {
  Report report;
  report.trials_used = 36;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    ParameterImportance one;
    one.parameter = static_cast<int>(i);
    one.main.value = shares[i];
    one.rank = static_cast<int>(i) + 1;
    one.distinguishable = static_cast<int>(i) < told;
    report.parameters.push_back(one);
  }
  report.main_draws = std::move(draws);
  return report;
}

TEST(ReportVerdict, TrialsThatTellNothingCannotRank) {
  const Report report = VerdictReportOf({0.3, 0.2, 0.1}, 0, {{0.3, 0.2, 0.1}});
  EXPECT_EQ(
      ReportVerdict(LevelSpace(3, 4), report, nullptr),
      "36 trials cannot rank the parameters: none can be told from chance");
}

TEST(ReportVerdict, NobodyIsFirstWhoIsNotFirstNineTimesInTen) {
  const Report report = VerdictReportOf(
      {0.3, 0.2, 0.1}, 2,
      {{0.3, 0.2, 0.1}, {0.1, 0.2, 0.3}, {0.1, 0.3, 0.2}, {0.3, 0.1, 0.2}});
  EXPECT_THAT(ReportVerdict(LevelSpace(3, 4), report, nullptr),
              HasSubstr("cannot rank the parameters: 2 of 3 can be told"));
}

TEST(ReportVerdict, TwoMayBeFirstTogether) {
  const Report report =
      VerdictReportOf({0.3, 0.2, 0.1}, 2, {{0.3, 0.2, 0.1}, {0.2, 0.3, 0.1}});
  EXPECT_EQ(ReportVerdict(LevelSpace(3, 4), report, nullptr),
            "layer.0 and layer.1 matter most, the order of the others is open");
}

TEST(ReportVerdict, SaysThatItHasSettledOnlyWhereItHas) {
  const Report report = VerdictReportOf({0.5, 0.2, 0.1}, 3, {{0.5, 0.2, 0.1}});
  StabilityVerdict stability;
  stability.state = StabilityState::kSettled;
  EXPECT_EQ(ReportVerdict(LevelSpace(3, 4), report, &stability),
            "layer.0 matters most, and the ranking has settled");
  stability.state = StabilityState::kNotSettled;
  EXPECT_THAT(ReportVerdict(LevelSpace(3, 4), report, &stability),
              HasSubstr("the order of the others is open"));
}

TEST(ReportVerdict, WithoutIntervalsNothingIsSure) {
  EXPECT_THAT(ReportVerdict(LevelSpace(3, 4),
                            VerdictReportOf({0.5, 0.2, 0.1}, 3, {}), nullptr),
              HasSubstr("has not been computed"));
}

}  // namespace
}  // namespace frostline::importance
