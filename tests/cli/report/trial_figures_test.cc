// SPDX-License-Identifier: Apache-2.0
#include "cli/report/trial_figures.h"

#include "absl/strings/str_split.h"
#include "cli/report/plot.h"
#include "cli/report/trial_scores.h"
#include "gmock/gmock.h"
#include "tests/cli/report/small_record.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::int64_t> NumbersOf(
    const std::vector<const v1::Trial*>& trials) {
  std::vector<std::int64_t> numbers;
  for (const v1::Trial* trial : trials) numbers.push_back(trial->number());
  return numbers;
}

int CountOf(const std::string& text, const std::string& part) {
  const std::vector<std::string> parts = absl::StrSplit(text, part);
  return static_cast<int>(parts.size()) - 1;
}

TEST(TrialScores, OrdersByTheFirstObjective) {
  StudyRecord record = SmallRecord();
  EXPECT_THAT(NumbersOf(ByScore(record)), testing::ElementsAre(1, 0, 2));
  record.study.mutable_spec()->mutable_objectives(0)->set_direction(
      v1::DIRECTION_MINIMIZE);
  EXPECT_THAT(NumbersOf(ByScore(record)), testing::ElementsAre(2, 0, 1));
}

TEST(TrialScores, TheFrontHasWhatNobodyBeatsForLess) {
  const StudyRecord record = SmallRecord();
  const auto trials = ByScore(record);
  const v1::Objective& objective = FirstObjective(record);
  EXPECT_THAT(NumbersOf(FrontBy(trials, objective, TrainedParametersOf)),
              testing::ElementsAre(2, 1));
  EXPECT_THAT(NumbersOf(FrontBy(trials, objective, SecondsOfTrial)),
              testing::ElementsAre(1));
}

TEST(RateMapSvg, HatchesWhatIsFrozenAndShadesWhatTrains) {
  const std::string svg = RateMapSvg(SmallRecord());
  EXPECT_EQ(CountOf(svg, "layer.0: frozen"), 2);
  EXPECT_EQ(CountOf(svg, "layer.1: 0.001"), 2);
  EXPECT_THAT(svg, HasSubstr("Rates of 3 trials, the best on top"));
  EXPECT_THAT(svg, HasSubstr("From 0.0001 (light) to 0.001 (dark)"));
  // The best trial stands above the others.
  EXPECT_LT(svg.find(">0.9<"), svg.find(">0.8<"));
}

TEST(CurvesSvg, DrawsTheObjectiveOfTheBestTrialsAlone) {
  StudyRecord record = SmallRecord();
  EXPECT_EQ(CountOf(CurvesSvg(record), "<path class=\"line\""), 1);
  EXPECT_THAT(CurvesSvg(record), Not(HasSubstr("odd")));
  record.curves.clear();
  EXPECT_EQ(CurvesSvg(record), "");
}

TEST(TradeOffSvg, MarksTheFront) {
  const std::string svg = TradeOffSvg(SmallRecord());
  EXPECT_EQ(CountOf(svg, "<circle class=\"dot\""), 6);
  EXPECT_EQ(CountOf(svg, "<circle class=\"best\""), 3);
  EXPECT_EQ(TradeOffSvg(StudyRecord()), "");
}

TEST(PlotAxis, OneValueStandsInTheMiddle) {
  PlotAxis axis;
  EXPECT_TRUE(axis.empty());
  axis.Show(3.0);
  EXPECT_EQ(axis.ShareOf(3.0), 0.5);
  axis.Show(std::numeric_limits<double>::quiet_NaN());
  axis.Show(7.0);
  EXPECT_EQ(axis.ShareOf(4.0), 0.25);
}

}  // namespace
}  // namespace frostline::cli
