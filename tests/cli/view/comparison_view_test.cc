// SPDX-License-Identifier: Apache-2.0
#include "cli/view/comparison_view.h"

#include <google/protobuf/text_format.h>

#include "gmock/gmock.h"

namespace frostline::cli {
namespace {

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
