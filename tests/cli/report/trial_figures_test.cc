// SPDX-License-Identifier: Apache-2.0
#include "cli/report/trial_figures.h"

#include "absl/strings/str_split.h"
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

TEST(RateMapSvg, LeavesOutWhatIsOneRateInAllTrials) {
  StudyRecord record = SmallRecord();
  for (v1::Trial& trial : *record.trials.mutable_trials()) {
    v1::ModuleRate* const rate = trial.add_rates();
    rate->set_module("head");
    rate->set_rate(1e-3);
  }
  const std::string svg = RateMapSvg(record);
  EXPECT_THAT(svg, Not(HasSubstr("head")));
  EXPECT_THAT(svg, HasSubstr("without modules of one rate in all trials"));
}

TEST(RateMapSvg, StaysSmallAndLegibleWithManyModules) {
  StudyRecord record;
  record.study.mutable_spec()->add_objectives()->set_metric("accuracy");
  for (int t = 0; t < 150; ++t) {
    std::vector<double> rates;
    for (int m = 0; m < 72; ++m) rates.push_back((t + m) % 3 == 0 ? 1e-3 : 0.0);
    *record.trials.add_trials() = TrialOf(t, 0.01 * t, 100, 9.0, rates);
  }
  const std::string svg = RateMapSvg(record);
  EXPECT_LT(svg.size(), 300'000u);
  EXPECT_THAT(svg, HasSubstr("Rates of the best 16 trials"));
  EXPECT_THAT(svg, HasSubstr("Dark: at 0.001; hatched: frozen"));
  EXPECT_EQ(CountOf(svg, "rotate(-90)"), 72);
  // Even the narrowest cell has its hatch.
  EXPECT_EQ(CountOf(svg, ": frozen</title>"), CountOf(svg, "<line"));
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

TEST(PlotAxis, EndsAtRoundNumbers) {
  const auto rounded = [](double lo, double hi) {
    PlotAxis axis;
    axis.Show(lo);
    axis.Show(hi);
    const double step = axis.RoundEnds();
    return std::vector<double>{axis.lo(), axis.hi(), step};
  };
  const auto is = [](const std::vector<double>& expected) {
    return testing::Pointwise(testing::DoubleNear(1e-12), expected);
  };
  EXPECT_THAT(rounded(0.3496, 1.272), is({0.0, 1.5, 0.5}));
  EXPECT_THAT(rounded(0.9558, 0.9586), is({0.955, 0.959, 0.001}));
  EXPECT_THAT(rounded(0.2, 1.0), is({0.2, 1.0, 0.2}));
  EXPECT_THAT(rounded(2.0, 2.0), is({2.0, 2.0, 0.0}));
}

}  // namespace
}  // namespace frostline::cli
