// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/text_format.h>

#include <limits>
#include <string>

#include "cli/view/outcomes_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

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

using ::testing::HasSubstr;
using ::testing::Not;

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

}  // namespace
}  // namespace frostline::cli
