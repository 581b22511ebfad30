// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_split.h"
#include "cli/report/report_page.h"
#include "cli/report/study_record.h"
#include "cli/report/trial_figures.h"
#include "gmock/gmock.h"
#include "tests/cli/report/small_record.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string HtmlOf(const StudyRecord& record) {
  return ToHtml(ComposeReport(record));
}

TEST(Report, SaysTheVerdictFirst) {
  const ReportPage page = ComposeReport(SmallRecord());
  EXPECT_EQ(page.title, "Study films");
  ASSERT_FALSE(page.sections.empty());
  EXPECT_EQ(page.sections[0].heading, "Verdict");
  EXPECT_EQ(page.sections[0].paragraphs[0], "freeze layer.0, train layer.1");
  EXPECT_THAT(page.sections[0].paragraphs,
              testing::Contains(HasSubstr("Best trial: 1, accuracy 0.9")));
  EXPECT_THAT(page.sections[0].paragraphs,
              testing::Contains("No importance: too few trials."));
}

// The plan is that of trial 1; what was run, as trials 4 and 5, is another.
StudyRecord RunAndChanged(const std::vector<double>& run) {
  StudyRecord record = SmallRecord();
  auto& values = *record.plan->mutable_as_trial()->mutable_values();
  values["layer.0"].set_number_value(0.0);
  values["layer.1"].set_number_value(1e-3);
  v1::PlanVerification& seen = record.verification.emplace();
  seen.set_verdict("the plan scored 0.85 (mean of 2 runs)");
  v1::VerifiedRival& first = *seen.add_rivals();
  first.set_name("plan");
  for (const std::int64_t number : {4, 5}) {
    const v1::Trial& trial = *record.trials.add_trials() =
        TrialOf(number, 0.85, 60, 5.0, run);
    first.add_runs()->set_trial(trial.name());
  }
  return record;
}

TEST(Report, TellsThePlanThatWasRunFromThePlanAsItIs) {
  const StudyRecord of_a_trial = RunAndChanged({0.0, 1e-4});
  const ReportPage page = ComposeReport(of_a_trial);
  EXPECT_THAT(page.sections[0].paragraphs,
              testing::IsSupersetOf(
                  {"Of the plan as it was, the point of trial 2: the plan "
                   "scored 0.85 (mean of 2 runs)",
                   "Of the plan as it is now: freeze layer.0, train layer.1"}));
  EXPECT_THAT(page.sections[1].verbatim,
              HasSubstr("of the plan as it was, the point of trial 2:"));
  EXPECT_THAT(HtmlOf(of_a_trial), HasSubstr("Of the plan as it is now"));
  EXPECT_THAT(ComposeReport(RunAndChanged({1e-4, 0.0})).sections[0].paragraphs,
              testing::Contains(HasSubstr(
                  "Of the plan as it was, run as trials 4, 5: the plan")));
}

TEST(Report, APlanThatIsAsItWasRunIsJustThePlan) {
  const ReportPage page = ComposeReport(RunAndChanged({0.0, 1e-3}));
  EXPECT_EQ(page.sections[0].paragraphs[0],
            "the plan scored 0.85 (mean of 2 runs)");
  EXPECT_EQ(page.sections[0].paragraphs[1], "freeze layer.0, train layer.1");
  // Nor is a trial that was applied in its place an earlier plan.
  StudyRecord applied = RunAndChanged({0.0, 1e-4});
  applied.verification->mutable_rivals(0)->set_name("trial 2");
  EXPECT_EQ(ComposeReport(applied).sections[0].paragraphs[1],
            "freeze layer.0, train layer.1");
}

TEST(Report, TheBestTrialsLuckStandsBesideTheMeanOfItsPoint) {
  EXPECT_THAT(ComposeReport(SmallRecord()).sections[0].paragraphs,
              testing::Contains("Best trial: 1, accuracy 0.9, as it was seen "
                                "in one run."));
  EXPECT_THAT(ComposeReport(RunAndChanged({0.0, 1e-3})).sections[0].paragraphs,
              testing::Contains("Best trial: 1, accuracy 0.9 in one run; its "
                                "point was run 3 times, with a mean accuracy "
                                "of 0.8667."));
}

TEST(Report, ARecordThatWasKeptGivesTheSameBytes) {
  const StudyRecord record = SmallRecord();
  ASSERT_OK_AND_ASSIGN(const StudyRecord kept, ReadRecord(ToText(record)));
  EXPECT_EQ(HtmlOf(kept), HtmlOf(record));
  EXPECT_EQ(ToMarkdown(ComposeReport(kept), "f"),
            ToMarkdown(ComposeReport(record), "f"));
}

TEST(Report, AnybodysTextIsNoMarkup) {
  StudyRecord record = SmallRecord();
  record.plan->set_verdict("<script>alert(1)</script> & *so* on");
  const std::string html = HtmlOf(record);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt; &amp;"));
  const std::string markdown = ToMarkdown(ComposeReport(record), "");
  EXPECT_THAT(markdown, HasSubstr("&lt;script>alert(1)"));
  EXPECT_THAT(markdown, HasSubstr("\\*so\\* on"));
  EXPECT_THAT(markdown, HasSubstr("< 0.01 \\| \"nothing\""));
}

TEST(Report, EveryTrialIsInItsTable) {
  const ReportPage page = ComposeReport(SmallRecord());
  const auto trials = std::find_if(
      page.sections.begin(), page.sections.end(),
      [](const ReportSection& s) { return s.heading == "Trials"; });
  ASSERT_NE(trials, page.sections.end());
  const ReportTable& table = trials->tables.at(0);
  EXPECT_THAT(table.columns,
              ElementsAre("trial", "state", "accuracy", "trained parameters",
                          "seconds", "seed", "layer.0", "layer.1"));
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_THAT(table.rows[1], ElementsAre("1", "SUCCEEDED", "0.9", "60", "5",
                                         "7", "frozen", "0.001"));
  EXPECT_THAT(table.rows[3],
              ElementsAre("3", "FAILED", "", "", "", "7", "", ""));
  EXPECT_THAT(table.csv, HasSubstr("1,SUCCEEDED,0.9,60,5,7,0,0.001\r\n"));
}

TEST(Report, PicturesStandInHtmlAndBesideMarkdown) {
  const ReportPage page = ComposeReport(SmallRecord());
  EXPECT_THAT(ToHtml(page), HasSubstr("<svg xmlns="));
  EXPECT_THAT(ToMarkdown(page, "pictures"), HasSubstr("](pictures/rates.svg)"));
  EXPECT_THAT(ToMarkdown(page, ""), Not(HasSubstr(".svg")));
}

TEST(Report, OfAStudyWithoutTrialsSaysWhatThereIs) {
  StudyRecord record;
  record.study.set_name("studies/empty");
  const ReportPage page = ComposeReport(record);
  EXPECT_EQ(page.title, "Study empty");
  for (const ReportSection& section : page.sections) {
    EXPECT_TRUE(section.figures.empty());
    EXPECT_TRUE(section.tables.empty());
  }
}

bool Same(const google::protobuf::Message& a,
          const google::protobuf::Message& b) {
  google::protobuf::util::MessageDifferencer compare;
  google::protobuf::util::DefaultFieldComparator fields;
  fields.set_treat_nan_as_equal(true);
  compare.set_field_comparator(&fields);
  return compare.Compare(a, b);
}

TEST(StudyRecord, IsReadAsItWasWritten) {
  const StudyRecord record = SmallRecord();
  ASSERT_OK_AND_ASSIGN(const StudyRecord again, ReadRecord(ToText(record)));
  EXPECT_TRUE(Same(again.study, record.study));
  EXPECT_TRUE(Same(again.trials, record.trials));
  EXPECT_TRUE(Same(again.curves.at(1), record.curves.at(1)));
  EXPECT_TRUE(Same(*again.plan, *record.plan));
  EXPECT_EQ(again.trials.trials(1).usage().trained_parameters(), 60);
  EXPECT_EQ(again.trials.trials(0).rates(1).rate(), 1e-3);
  EXPECT_TRUE(
      std::isnan(again.curves.at(1).measurements(0).metrics().at("odd")));
  EXPECT_TRUE(again.plan.has_value());
  EXPECT_FALSE(again.frontier.has_value());
  EXPECT_THAT(again.missing,
              testing::ElementsAre("No importance: too few trials."));
}

TEST(StudyRecord, AnotherFileIsRefused) {
  for (const std::string text :
       {"", "no JSON", "{}", R"({"frostline_report": 1})",
        R"({"frostline_report": 1, "study": 3, "trials": {}})",
        R"({"frostline_report": 1, "study": {"nam": ""}, "trials": {}})"}) {
    EXPECT_THAT(ReadRecord(text).status(), FailsWith(ErrorId::kRequestInvalid))
        << text;
  }
}

TEST(StudyRecord, OfALaterVersionSaysSo) {
  const auto later =
      ReadRecord(R"({"frostline_report": 2, "study": {}, "trials": {}})");
  EXPECT_THAT(later.status(), FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(std::string(later.status().message()),
              testing::HasSubstr("later version"));
}

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
