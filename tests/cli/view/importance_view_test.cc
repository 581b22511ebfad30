// SPDX-License-Identifier: Apache-2.0
#include "cli/view/importance_view.h"

#include <google/protobuf/text_format.h>

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_split.h"
#include "cli/term/table.h"
#include "cli/view/difference_view.h"
#include "cli/view/outcomes_view.h"
#include "cli/view/plan_view.h"
#include "cli/view/svg.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Importance, plans and comparisons as text, CSV and pictures.

constexpr char kEvilReportName[] = "<script>&\x1b[31m\"',\n";

template <typename Message>
Message ParseReport(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

v1::ImportanceReport ExampleReport() {
  return ParseReport<v1::ImportanceReport>(R"(
    study: 'studies/imdb' trials_used: 200 provisional: true
    verdict: 'layer.11.attention matters most, the order of the others is open'
    options { evaluator: 'fanova' target: 'accuracy' seed: 7 }
    parameters { parameter: 'embeddings' rank: 3 direction: nan
      main { value: 0.01 lo80: 0.0 hi80: 0.03 lo95: 0.0 hi95: 0.05 }
      total { value: nan lo80: nan hi80: nan lo95: nan hi95: nan } }
    parameters { parameter: 'layer.11.attention' modules: 'layer.11' rank: 1
      main { value: 0.41 lo80: 0.3 hi80: 0.5 lo95: 0.25 hi95: 0.6 }
      direction: -0.9 direction_probability: 0.95 distinguishable: true }
    parameters { parameter: 'head' rank: 2 direction: 0.8 distinguishable: true
      direction_probability: 0.7
      main { value: 0.2 lo80: 0.1 hi80: 0.3 lo95: 0.05 hi95: 0.35 } }
    pairs { first: 'layer.11.attention' second: 'head'
      share { value: 0.05 lo80: 0.01 hi80: 0.1 }
      substitutes_probability: 0.96 }
    pairs { first: 'embeddings' second: 'head'
      share { value: 0.01 lo80: 0.0 hi80: 0.02 }
      substitutes_probability: 0.6 }
    total_pairs: 3
    subsets { parameters: 'head' parameters: 'layer.11.attention'
      together { value: 0.66 lo80: 0.5 hi80: 0.7 lo95: 0.4 hi95: 0.8 }
      beyond { value: 0.05 lo80: 0.01 hi80: 0.1 } }
    groups { group: 'lower' share { value: 0.25 lo80: 0.2 hi80: 0.3 } }
    unexplained { value: 0.1 } out_of_bag_r2: 0.8 noise_share: 0.12
    estimator_weights { key: 'forest' value: 0.1 }
    estimator_weights { key: 'main effects' value: 0.9 }
    stability { sentence: 'ranking settled after 140 trials' })");
}

int WidestReportLine(const std::string& text) {
  int widest = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    widest = std::max(widest, DisplayWidth(std::string(line)));
  }
  return widest;
}

TEST(ImportanceView, SaysOnceThatNothingCanBeToldFromChance) {
  v1::ImportanceReport report = ExampleReport();
  report.mutable_stability()->set_sentence(
      "not settled: after 36 trials no parameter can be told from chance");
  EXPECT_THAT(RenderImportance(report, "", 80), Not(HasSubstr("stability:")));
}

TEST(ImportanceView, DrawsBarsInEighths) {
  EXPECT_EQ(Bar(1.0, 2), "██");
  EXPECT_EQ(Bar(0.25, 2), "▌");
  EXPECT_EQ(Bar(0.0, 2), "");
  EXPECT_EQ(Bar(7.0, 2), "██");
  EXPECT_EQ(Bar(std::nan(""), 2), "");
}

TEST(ImportanceView, BarsAreSolidOnlyUpToWhatIsSure) {
  EXPECT_EQ(BarWithin(0.5, 1.0, 4), "██░░");
  EXPECT_EQ(BarWithin(0.0, 1.0, 4), "░░░░");
  EXPECT_EQ(BarWithin(0.9, 0.5, 4), "██");
  EXPECT_EQ(BarWithin(0.0, 0.0, 4), "░");  // not nothing: not known
  EXPECT_EQ(BarWithin(std::nan(""), 0.5, 4), "░░");
  EXPECT_EQ(BarWithin(0.0, std::nan(""), 4), "");
}

TEST(ImportanceView, SaysHowMuchToBelieve) {
  v1::ImportanceReport report = ExampleReport();
  report.set_out_of_bag_r2(0.12);
  std::string text = RenderImportance(report, "", 0);
  EXPECT_THAT(text, HasSubstr("41.0 %"));
  EXPECT_THAT(text, HasSubstr("30.0 – 50.0 %"));
  EXPECT_THAT(text, HasSubstr("explains 12 % of the differences"));
  EXPECT_THAT(text, HasSubstr("believe little"));
  report.set_out_of_bag_r2(0.8);
  EXPECT_THAT(RenderImportance(report, "", 0),
              Not(HasSubstr("believe little")));
  report.set_out_of_bag_r2(-0.1);
  EXPECT_THAT(RenderImportance(report, "", 0), HasSubstr("explains nothing"));
  report.set_out_of_bag_r2(std::nan(""));
  EXPECT_THAT(RenderImportance(report, "", 0), Not(HasSubstr("explains")));
}

TEST(ImportanceView, FewTrialsFitNothing) {
  v1::ImportanceReport report = ExampleReport();
  report.set_out_of_bag_r2(0.91);
  report.add_warnings()->set_code("FEW_TRIALS");
  const std::string text = RenderImportance(report, "", 0);
  EXPECT_THAT(text, HasSubstr("too few trials to say"));
  EXPECT_THAT(text, Not(HasSubstr("91 %")));
}

TEST(ImportanceView, ADirectionIsSaidFromNineInTenOn) {
  const std::string text = RenderImportance(ExampleReport(), "", 0);
  EXPECT_THAT(text, HasSubstr("lower is better"));        // .95
  EXPECT_THAT(text, Not(HasSubstr("higher is better")));  // .7
}

TEST(ImportanceView, WhatCanBeChanceHasNoRank) {
  const std::string text = RenderImportance(ExampleReport(), "", 0);
  EXPECT_THAT(text, ContainsRegex("head +2 "));
  EXPECT_THAT(text, ContainsRegex("embeddings +- "));
}

TEST(ImportanceView, SaysNothingTwice) {
  v1::ImportanceReport report = ExampleReport();
  report.add_warnings()->set_sentence("few trials");
  report.add_warnings()->set_sentence("few trials");
  const std::string text = RenderImportance(report, "", 0);
  EXPECT_EQ(text.find("few trials"), text.rfind("few trials"));
}

TEST(ImportanceView, FitsATerminalAndKeepsTheReportsOrder) {
  const std::string text = RenderImportance(ExampleReport(), "HEAD\n", 80);
  EXPECT_LE(WidestReportLine(text), 80);
  EXPECT_LT(text.find("matters most"), text.find("HEAD"));
  EXPECT_LT(text.find("HEAD"), text.find("embeddings"));
  EXPECT_LT(text.find("embeddings"), text.find("30.0 – 50.0"));
  EXPECT_LT(text.find("30.0 – 50.0"), text.find("head "));
  EXPECT_THAT(text, Not(HasSubstr("…")));
  EXPECT_THAT(text, HasSubstr("study still running"));
  EXPECT_THAT(text, HasSubstr("ranking settled after 140 trials"));
  EXPECT_THAT(text, HasSubstr("░ unsure"));
}

TEST(ImportanceView, SaysHowManyPairsThereAre) {
  const std::string text = RenderPairs(ExampleReport(), 80);
  EXPECT_THAT(text, HasSubstr("2 of 3"));
  EXPECT_THAT(text, HasSubstr("layer.11.attention x head"));
  EXPECT_THAT(text, HasSubstr("substitutes, 96 %"));
  EXPECT_THAT(text, Not(HasSubstr("60 %")));  // too little to say it
  EXPECT_LE(WidestReportLine(text), 80);
  EXPECT_THAT(RenderPairs({}, 80), HasSubstr("no pairs"));
  EXPECT_THAT(RenderGroups(ExampleReport(), 80), HasSubstr("lower"));
  EXPECT_THAT(RenderGroups({}, 80), HasSubstr("no groups"));
}

TEST(ImportanceView, ShowsNamedSets) {
  const std::string text = RenderSubsets(ExampleReport(), 80);
  EXPECT_THAT(text, HasSubstr("  66.0 %  50.0 – 70.0 %   5.0 %   1.0 – 10.0 %  "
                              "head, layer.11.attention"));
  EXPECT_LE(WidestReportLine(text), 80);
  EXPECT_EQ(SubsetsCsv(ExampleReport()),
            "subset,together,together_lo80,together_hi80,together_lo95,"
            "together_hi95,beyond,beyond_lo80,beyond_hi80,beyond_lo95,"
            "beyond_hi95\r\n"
            "\"head,layer.11.attention\",0.66,0.5,0.7,0.4,0.8,0.05,0.01,0.1,"
            "0,0\r\n");
}

TEST(ImportanceView, BreaksLongSentences) {
  v1::ImportanceReport report = ExampleReport();
  std::string sentence;
  for (int i = 0; i < 40; ++i) sentence += "trial after trial ";
  report.add_warnings()->set_sentence(sentence);
  EXPECT_LE(WidestReportLine(RenderImportance(report, "", 0)), 80);
}

TEST(ImportanceView, LetsNoControlCharacterThrough) {
  v1::ImportanceReport report = ExampleReport();
  report.set_study(kEvilReportName);
  report.mutable_options()->set_target(kEvilReportName);
  report.mutable_options()->set_filter(kEvilReportName);
  report.mutable_parameters(0)->set_parameter(kEvilReportName);
  report.mutable_pairs(0)->set_first(kEvilReportName);
  report.mutable_subsets(0)->set_parameters(0, kEvilReportName);
  report.add_warnings()->set_sentence(kEvilReportName);
  const std::string text = RenderImportance(report, "", 0) +
                           RenderPairs(report, 0) + RenderSubsets(report, 0);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

v1::GetMarginalsReply ExampleCurves() {
  return ParseReport<v1::GetMarginalsReply>(R"(
    options { target: 'accuracy' }
    marginals { parameter: 'layer.0' best { number_value: 1e-05 }
      points { value { number_value: 0 } trials: 4
        expected { value: 0.8 lo80: 0.7 hi80: 0.9 } }
      points { value { number_value: 1e-05 } trials: 5
        expected { value: 0.9 lo80: 0.85 hi80: 0.95 } } })");
}

TEST(ImportanceView, ShowsACurveAsATable) {
  EXPECT_EQ(
      RenderMarginals(ExampleCurves(), {"layer.0"}, 80),
      "expected accuracy, all else averaged out\n"
      "\n"
      "layer.0\n"
      "\n"
      " VALUE  EXPECTED  80 % INTERVAL  TRIALS\n"
      "frozen      0.80    0.70 – 0.90       4\n"
      " 1e-05     0.900  0.850 – 0.950       5  ████████████████  best\n");
}

TEST(ImportanceView, MarksCellsThatNobodyHasTried) {
  const auto table = ParseReport<v1::PairMarginal>(R"(
    first: 'a' second: 'b' options { target: 'f1' }
    first_values { string_value: 'x' } second_values { number_value: 1 }
    second_values { number_value: 2 }
    expected: 0.5 expected: 0.25 trials: 3 trials: 0)");
  EXPECT_THAT(RenderPairMarginal(table, {}, 80),
              HasSubstr("x      0.5  (0.25)"));
  EXPECT_EQ(PairMarginalCsv(table),
            "a,b,expected,trials\r\nx,1,0.5,3\r\nx,2,0.25,0\r\n");
}

TEST(ImportanceView, ShowsTheRankingOverTime) {
  const auto reply = ParseReport<v1::GetStabilityReply>(R"(
    verdict { sentence: 'not settled: about 40 more trials'
      half_tau { value: 0.6 lo80: 0.4 hi80: 0.8 } }
    points { trials: 50 tau_to_final: 0.3
      parameters { parameter: 'layer.0' rank: 2 }
      parameters { parameter: 'head' rank: 1 } })");
  const std::string text = RenderStability(reply, 80);
  EXPECT_THAT(text, HasSubstr("50       0.30  head, layer.0"));
  EXPECT_THAT(text, HasSubstr("not settled: about 40 more trials"));
  EXPECT_THAT(text, HasSubstr("tau 0.60 (80 %: 0.40 – 0.80)"));
}

v1::FreezePlan ExamplePlan() {
  return ParseReport<v1::FreezePlan>(R"(
    study: 'studies/imdb' options { target: 'accuracy' }
    verdict: 'embeddings can be frozen, of layer.1 nothing is known'
    modules { module: 'embeddings' freeze: true reason: 'costs, "nothing"'
      advice: PLAN_ADVICE_FREEZE freeze_probability: 0.995
      cost_of_freezing { value: 0.001 lo80: -0.001 hi80: 0.002 } }
    modules { module: 'layer.0' rate: 0.001 advice: PLAN_ADVICE_TRAIN
      freeze_probability: 0.04
      cost_of_freezing { value: 0.04 lo80: 0.03 hi80: 0.05 } }
    modules { module: 'layer.1' rate: 0.001 advice: PLAN_ADVICE_NOT_KNOWN
      freeze_probability: 0.5
      cost_of_freezing { value: 0.01 lo80: -0.03 hi80: 0.05 } }
    modules { module: 'layer.2' rate: 0.001 advice: PLAN_ADVICE_NOT_KNOWN
      freeze_probability: 0.94
      cost_of_freezing { value: 0 lo80: -0.01 hi80: 0.002 } }
    modules { module: 'head' rate: 0.001 advice: PLAN_ADVICE_FIXED
      freeze_probability: nan
      cost_of_freezing { value: nan lo80: nan hi80: nan lo95: nan hi95: nan } }
    predicted_score { value: 0.91 lo80: 0.9 hi80: 0.92 }
    one_run { value: 0.91 lo80: 0.88 hi80: 0.94 }
    best_seen_value: 0.945 at_least_best_probability: 0.62
    best_seen_score { value: 0.9 lo80: 0.89 hi80: 0.91 }
    best_seen_trial: 'studies/imdb/trials/17'
    nearest_trial: 'studies/imdb/trials/4' differs_in: 3
    trained_parameters_known: true trained_parameters_saved: 23837184
    seconds_saved_share: 0.4 supporting_trials: 'studies/imdb/trials/4'
    verify: 'frostline plan imdb --verify')");
}

TEST(PlanView, SaysWhatIsSureAndHowToVerifyIt) {
  const std::string text = RenderFreezePlan(ExamplePlan(), 80);
  EXPECT_LT(text.find("embeddings can be frozen"), text.find("MODULE"));
  EXPECT_THAT(text, HasSubstr("embeddings  freeze     frozen         > 99 %"));
  EXPECT_THAT(text, HasSubstr("layer.0     train       0.001            4 %"));
  EXPECT_THAT(text, HasSubstr("layer.1     not known"));
  EXPECT_THAT(text, HasSubstr("layer.2     either      0.001           94 %"));
  EXPECT_THAT(text, HasSubstr("head        fixed       0.001              -"));
  EXPECT_THAT(text,
              HasSubstr("0.910 (0.900 – 0.920) over seeds; one run 0.88"));
  EXPECT_THAT(text, HasSubstr("0.945, trial 17; its luck taken off 0.900"));
  EXPECT_THAT(text, HasSubstr("differs from trial 4 in 3 modules"));
  EXPECT_THAT(text, HasSubstr("23,837,184 trained parameters, 40.0 % of the"));
  EXPECT_THAT(text, HasSubstr("frostline plan imdb --verify\n"));
  EXPECT_LE(WidestReportLine(text), 80);
}

TEST(PlanView, InShortItIsItsVerdictAndItsRates) {
  const std::string text = RenderFreezePlanInShort(ExamplePlan(), 0);
  EXPECT_THAT(text, StartsWith("embeddings can be frozen, of layer.1"));
  EXPECT_THAT(text, HasSubstr("0.945, trial 17; one run of the plan: 0.880"));
  EXPECT_THAT(text, HasSubstr("0.001 layer.0-2, head; frozen embeddings\n"));
  v1::FreezePlan copy = ExamplePlan();
  copy.set_differs_in(0);
  EXPECT_THAT(RenderFreezePlanInShort(copy, 0),
              HasSubstr("those of trial 4\n"));
  EXPECT_LE(WidestReportLine(text), 80);
}

TEST(PlanView, OfABestTrialThatIsThePlanSaysSo) {
  v1::FreezePlan plan = ExamplePlan();
  plan.set_differs_in(0);
  plan.set_nearest_trial(plan.best_seen_trial());
  const std::string text = RenderFreezePlan(plan, 80);
  EXPECT_THAT(text, HasSubstr("; it is\n                the plan\n"));
  EXPECT_THAT(text, Not(HasSubstr("is as good with")));
}

TEST(PlanView, SavesNothingThatIsNotKnown) {
  v1::FreezePlan plan = ExamplePlan();
  plan.set_trained_parameters_known(false);
  plan.set_seconds_saved_share(std::nan(""));
  EXPECT_THAT(RenderFreezePlan(plan, 80), Not(HasSubstr("saves")));
}

TEST(PlanView, SetsTwoStudiesSideBySide) {
  const auto comparison = ParseReport<v1::StudyComparison>(R"(
    first: 'studies/imdb' second: 'studies/sst2' options { target: 'accuracy' }
    rank_agreement { value: 0.5 lo80: 0.2 hi80: 0.7 } sentence: 'they agree'
    shifts { parameter: 'layer.0' distinguishable: true
      first_share { value: 0.2 lo80: 0.1 hi80: 0.3 }
      second_share { value: 0.6 lo80: 0.5 hi80: 0.7 } }
    only_first: 'pooler')");
  const std::string text = RenderComparison(comparison, 80);
  EXPECT_THAT(text, HasSubstr("tau 0.50 (80 %: 0.20 – 0.70)"));
  EXPECT_THAT(text, HasSubstr("differs"));
  EXPECT_THAT(text, HasSubstr("only first:     pooler"));
  EXPECT_LE(WidestReportLine(text), 80);
  EXPECT_THAT(ComparisonCsv(comparison), HasSubstr("\r\nlayer.0,0.2,0.1,0.3"));
}

TEST(Csv, QuotesWhatNeedsQuotes) {
  EXPECT_EQ(CsvLine({"a", "b,c", "d\"e", "f\ng"}),
            "a,\"b,c\",\"d\"\"e\",\"f\ng\"\r\n");
  EXPECT_EQ(CsvNumber(0.1), "0.1");
  EXPECT_EQ(CsvNumber(1e-05), "1e-05");
  EXPECT_EQ(CsvNumber(std::nan("")), "");
}

TEST(Csv, HasAHeaderAndEmptyCellsForWhatThereIsNot) {
  const std::string text = ImportanceCsv(ExampleReport());
  EXPECT_THAT(text, StartsWith("parameter,modules,rank,main,main_lo80,"));
  EXPECT_THAT(text, HasSubstr("\r\nembeddings,,3,0.01,0,0.03,0,0.05,,,,,,,0,"
                              "false,0\r\n"));
  EXPECT_THAT(PlanCsv(ExamplePlan()), HasSubstr(R"("costs, ""nothing""")"));
  EXPECT_THAT(MarginalsCsv(ExampleCurves()),
              HasSubstr("\r\nlayer.0,1e-05,0.9,0.85,0.95,0,0,5\r\n"));
}

TEST(SvgView, EscapesEveryText) {
  v1::ImportanceReport report = ExampleReport();
  report.set_study(kEvilReportName);
  report.mutable_options()->set_target(kEvilReportName);
  report.mutable_parameters(0)->set_parameter(kEvilReportName);
  report.add_warnings()->set_sentence(kEvilReportName);
  v1::GetMarginalsReply curves = ExampleCurves();
  curves.mutable_options()->set_target(kEvilReportName);
  curves.mutable_marginals(0)->set_parameter(kEvilReportName);
  for (const std::string& svg : {ImportanceSvg(report), MarginalsSvg(curves)}) {
    EXPECT_THAT(svg, StartsWith("<svg xmlns="));
    EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;"));
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
    EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("href")));
  }
}

TEST(SvgView, DrawsHollowWhatIsNotSure) {
  const std::string svg = ImportanceSvg(ExampleReport());
  EXPECT_THAT(svg, HasSubstr("<rect class=\"faint\""));
  // The bar of .41 is sure to .3; the axis has .6 over 470 points.
  EXPECT_THAT(svg, HasSubstr("<rect class=\"bar\" x=\"170.0\" y=\"128.0\" "
                             "width=\"235.0\""));
  EXPECT_LT(svg.find(">embeddings<"), svg.find(">layer.11.attention<"));
}

// Every line fits, whatever the terminal; prose is never cut, only wrapped.
TEST(ImportanceView, FitsTheWidth) {
  for (const int width : {40, 80, 200}) {
    for (const std::string& text :
         {RenderImportance(ExampleReport(), "", width),
          RenderFreezePlan(ExamplePlan(), width),
          RenderFreezePlanInShort(ExamplePlan(), width)}) {
      for (const absl::string_view line : absl::StrSplit(text, '\n')) {
        EXPECT_LE(DisplayWidth(std::string(line)), width) << line;
      }
    }
  }
}

// Settings against "all", by accuracy, with a margin of one point.
class ComparisonSummary : public ::testing::Test {
 protected:
  ComparisonSummary() {
    comparison_.set_metric("test.accuracy");
    comparison_.set_direction(v1::DIRECTION_MAXIMIZE);
    comparison_.set_margin(0.01);
    comparison_.set_verdict("as the tests say");
  }

  v1::PairedTest& Add(const std::string& name, double difference,
                      bool differs) {
    v1::PairedTest& test = *comparison_.add_tests();
    test.set_first("all");
    test.set_second(name);
    test.set_method(v1::PairedTest::SIGNS);
    test.set_difference(difference);
    test.set_differs(differs);
    test.set_smallest_difference(0.05);
    return test;
  }

  v1::TrialComparison comparison_;
};

TEST_F(ComparisonSummary, GroupsWhatCameToTheSame) {
  Add("head only", -0.248, true);
  Add("ALF-1", -0.012, false).set_smallest_difference(0.094);
  Add("best found", -0.0001, false);
  Add("second found", 0.12, true);
  EXPECT_EQ(SummaryOf(comparison_),
            "by test.accuracy against all: better is second found (+12.0 "
            "points); worse is head only (-24.8 points); cannot be told apart: "
            "ALF-1 (-1.2 points), best found (+0.0 points), where 9.4 points "
            "would have been seen; that one of these is not worse by 1.0 "
            "points or more is not shown");
}

TEST_F(ComparisonSummary, NamesWhatIsSurelyNotWorse) {
  Add("one", 0.002, false).set_not_worse(true);
  Add("two", -0.03, false);
  EXPECT_EQ(SummaryOf(comparison_),
            "by test.accuracy against all: cannot be told apart: one (+0.2 "
            "points), two (-3.0 points), where 5.0 points would have been "
            "seen; surely not worse by 1.0 points or more: one (+0.2 points)");
}

TEST_F(ComparisonSummary, LowerIsBetterWhereItIsMinimized) {
  comparison_.set_metric("rmse");
  comparison_.set_direction(v1::DIRECTION_MINIMIZE);
  comparison_.set_margin(0.0);
  Add("one", -2.5, true);
  Add("two", 1.25, true);
  EXPECT_EQ(SummaryOf(comparison_),
            "by rmse against all: better is one (-2.5); worse is two (+1.25)");
}

TEST_F(ComparisonSummary, SaysWhatCouldNotBeTested) {
  Add("one", 0.1, false).set_method(v1::PairedTest::METHOD_UNSPECIFIED);
  Add("two", 0.1, false).set_p(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(SummaryOf(comparison_),
            "by test.accuracy against all: cannot be tested, of one run each "
            "without examples: one (+10.0 points), two (+10.0 points)");
}

TEST_F(ComparisonSummary, LeavesToTheTestsWhatHasNoCommonSetting) {
  Add("one", 0.1, true);
  EXPECT_EQ(SummaryOf(comparison_), "as the tests say");
  Add("two", 0.1, true).set_first("one");
  EXPECT_EQ(SummaryOf(comparison_), "as the tests say");
}

v1::TrialComparison Example() {
  v1::TrialComparison comparison;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(metric: 'f1' direction: DIRECTION_MAXIMIZE examples: 1200
         sentences: 80 draws: 10000
         contenders { name: 'a/0' mean: 0.9 runs { seed: 1 } }
         contenders { name: 'a/1' mean: 0.92 runs { seed: 1 } }
         tests { first: 'a/0' second: 'a/1' method: BOOTSTRAP pairs: 1
           difference: 0.02 lo95: nan hi95: nan p: 0.0004 adjusted_p: 0.0004
           differs: true smallest_difference: 0.015 worse_p: 0.0001
           finding: 'a/1 is better than a/0' }
         notes: 'one run says little')",
      &comparison));
  return comparison;
}

TEST(ComparisonView, SaysTheFindingThenTheNumbers) {
  const std::string text = RenderTrialComparison(Example(), 0);
  EXPECT_THAT(text, HasSubstr("paired tests of f1: 1,200 words in 80 "
                              "sentences, 10,000 resamples\n\n"
                              "a/1 is better than a/0\n"));
  EXPECT_THAT(text, HasSubstr("a/1    0.9200     1\n"));
  EXPECT_THAT(text, HasSubstr("+0.0200*     -  < 0.001        0.0150  "
                              "bootstrap\n"));
  EXPECT_THAT(text, HasSubstr("note:           one run says little\n"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("WORSE")));
}

TEST(ComparisonView, AMarginHasItsColumn) {
  v1::TrialComparison comparison = Example();
  comparison.set_margin(0.01);
  EXPECT_THAT(RenderTrialComparison(comparison, 0), HasSubstr("WORSE, p\n"));
}

TEST(ComparisonView, WhatOthersNamedStaysOnItsLine) {
  v1::TrialComparison comparison = Example();
  comparison.mutable_contenders(0)->set_name("a\x1b[31m\nb");
  comparison.mutable_tests(0)->set_finding("x\x1b[31my");
  EXPECT_THAT(RenderTrialComparison(comparison, 80), Not(HasSubstr("\x1b")));
}

TEST(DifferenceView, HasARowForEachPartAndOneForLuck) {
  const auto difference = ParseReport<v1::DifferenceExplanation>(R"(
    options { target: 'accuracy' }
    first: 'studies/a/trials/0' second: 'studies/a/trials/8'
    first_value: 0.5 second_value: 0.72 seen: 0.22
    predicted { value: 0.2 lo80: 0.18 hi80: 0.23 }
    luck { value: 0.02 lo80: -0.01 hi80: 0.04 }
    verdict: 'layer.1 did it'
    parts {
      parameters: 'layer.1' modules: 'layer.1'
      first_values { number_value: 0 } second_values { number_value: 1e-4 }
      part { value: 0.19 lo80: 0.17 hi80: 0.2 } sign_probability: 0.999
    }
    parts {
      parameters: 'mode' parameters: 'size'
      first_values { string_value: 'a' } first_values { null_value: NULL_VALUE }
      second_values { string_value: 'b' } second_values { number_value: 16 }
      part { value: -0.01 lo80: -0.02 hi80: 0.01 } sign_probability: 0.7
    }
    warnings { code: 'FEW_TRIALS' sentence: 'few trials' })");
  const std::string text = RenderDifference(difference, 100);
  EXPECT_THAT(text, HasSubstr("layer.1 did it"));
  EXPECT_THAT(text,
              ContainsRegex("layer.1 +frozen +0.0001 +\\+0.190 .*> 99 %"));
  EXPECT_THAT(text, ContainsRegex("mode, size +a, - +b, 16 +-0.010"));
  EXPECT_THAT(text, ContainsRegex("predicted +\\+0.20"));
  EXPECT_THAT(text, ContainsRegex("luck, and what is not searched +\\+0.02"));
  EXPECT_THAT(text, ContainsRegex("seen +0.5 +0.72 +\\+0.22"));
  EXPECT_THAT(text, HasSubstr("warning: few trials"));
}

TEST(DifferenceView, TunabilityHasARowForEachParameter) {
  const auto report = ParseReport<v1::ImportanceReport>(R"(
    options { target: 'accuracy' }
    tunability {
      parameter: 'layer.1' default_value { number_value: 1e-5 }
      best_value { number_value: 1e-4 }
      gain { value: 0.04 lo80: 0.03 hi80: 0.05 lo95: 0.02 hi95: 0.06 }
      gain_probability: 0.97
    })");
  EXPECT_THAT(RenderTunability(report, 100),
              ContainsRegex("layer.1 +1e-05 +0.0001 +\\+0.040.* 97 %"));
  EXPECT_EQ(TunabilityCsv(report),
            "parameter,default,best,gain,gain_lo80,gain_hi80,gain_lo95,"
            "gain_hi95,gain_probability\r\n"
            "layer.1,1e-05,1e-04,0.04,0.03,0.05,0.02,0.06,0.97\r\n");
}

}  // namespace
}  // namespace frostline::cli
