// SPDX-License-Identifier: Apache-2.0
//
// Sets of parameters that are asked for by name, in a report.
#include "importance/measure/evaluate_options.h"

#include <cmath>
#include <string>
#include <utility>

#include "importance/evaluator.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

bool AreSame(const Interval& a, const Interval& b) {
  return a.value == b.value && a.lo80 == b.lo80 && a.hi80 == b.hi80 &&
         a.lo95 == b.lo95 && a.hi95 == b.hi95;
}

EvaluateOptions Asking(const std::string& evaluator, NamedSubsets subsets) {
  EvaluateOptions options;
  options.evaluator = evaluator;
  options.subsets = std::move(subsets);
  options.trees = 16;
  options.bootstraps = 8;
  return options;
}

// Centred over 0 … 4, both of variance 2.
double LinearSubsets(double level) { return level - 2.0; }
double BendSubsets(double level) {
  return std::sqrt(2.0 / 2.8) * ((level - 2.0) * (level - 2.0) - 2.0);
}

// Variances: 8 and 4 alone, 4 of two, 4 of three; 20 in all.
double UpToThree(const Point& p) {
  return 2.0 * LinearSubsets(p[0]) + std::sqrt(2.0) * BendSubsets(p[2]) +
         LinearSubsets(p[0]) * BendSubsets(p[1]) +
         std::sqrt(0.5) * LinearSubsets(p[0]) * LinearSubsets(p[1]) *
             BendSubsets(p[2]);
}

TEST(NamedSubsets, EffectsOfTwoAndThreeComeOutAsTheyAre) {
  const Space space = LevelSpace(4, 5);
  const History history = UniformTrials(
      space, 900,
      [](const Point& p, Rng& rng) { return UpToThree(p) + rng.Normal(); });
  for (const std::string evaluator : {"fanova", "levels"}) {
    const auto options =
        Asking(evaluator, {{0, 1, 2}, {1, 0}, {2, 1}, {3, 1, 0}, {2}});
    ASSERT_OK_AND_ASSIGN(const Report report,
                         Evaluate(space, kLoss, history, options));
    const double together[] = {1.0, 0.6, 0.2, 0.6, 0.2};
    const double beyond[] = {0.2, 0.2, 0.0, 0.0, 0.2};
    ASSERT_EQ(report.subsets.size(), 5u);
    for (std::size_t s = 0; s < 5; ++s) {
      const SubsetImportance& one = report.subsets[s];
      EXPECT_EQ(one.parameters, options.subsets[s]);
      EXPECT_NEAR(one.together.value, together[s], 0.04) << evaluator << s;
      EXPECT_NEAR(one.beyond.value, beyond[s], 0.03) << evaluator << s;
    }
    EXPECT_LT(report.subsets[0].beyond.lo95, 0.2);
    EXPECT_GT(report.subsets[0].beyond.hi95, report.subsets[3].beyond.hi95);
  }
}

// A cliff over four of six parameters that only trees describe: with a the
// part of a parameter's levels that are on it, Var E[f | x_S] of s of the four
// is a^(8 - s) - a^8, and the effect of all four (a - a²)^4.
TEST(NamedSubsets, ACliffOfFourIsFoundByTheForest) {
  const Space space = LevelSpace(6, 7);
  const History history =
      UniformTrials(space, 500, [](const Point& p, Rng& rng) {
        const bool falls = p[0] >= 3 && p[1] >= 3 && p[2] >= 3 && p[3] >= 3;
        return (falls ? 1.0 : 0.0) + 0.05 * rng.Normal();
      });
  ASSERT_OK_AND_ASSIGN(
      const Report report,
      Evaluate(space, kLoss, history,
               Asking("fanova", {{0, 1, 2, 3}, {1, 2, 3}, {0, 4, 5}})));
  const double a = 4.0 / 7.0;
  const double variance = std::pow(a, 4) - std::pow(a, 8);
  EXPECT_NEAR(report.subsets[0].together.value, 1.0, 0.03);
  EXPECT_NEAR(report.subsets[0].beyond.value, std::pow(a - a * a, 4) / variance,
              0.01);
  EXPECT_NEAR(report.subsets[1].together.value,
              (std::pow(a, 5) - std::pow(a, 8)) / variance, 0.05);
  EXPECT_NEAR(report.subsets[1].beyond.value,
              std::pow(a, 5) * std::pow(1.0 - a, 3) / variance, 0.02);
  EXPECT_LT(report.subsets[2].beyond.value, 0.005);
}

class NamedSubsetsOf : public testing::TestWithParam<std::string> {
 protected:
  const Space space_ = LevelSpace(5, 5);
  const History history_ =
      UniformTrials(space_, 150, [](const Point& p, Rng& rng) {
        return UpToThree(p) + (p[3] > 2 && p[4] > 1 ? 4.0 : 0.0) +
               0.5 * rng.Normal();
      });

  Report Ask(const NamedSubsets& subsets) {
    return *Evaluate(space_, kLoss, history_, Asking(GetParam(), subsets));
  }
};

TEST_P(NamedSubsetsOf, OneIsItsMainEffectAndTwoAreTheirPair) {
  const Report report = Ask({{3}, {4, 3}, {0, 1}, {1, 4}});
  EXPECT_TRUE(AreSame(report.subsets[0].together, report.parameters[3].main));
  EXPECT_TRUE(AreSame(report.subsets[0].beyond, report.parameters[3].main));
  for (std::size_t s = 1; s < 4; ++s) {
    const SubsetImportance& two = report.subsets[s];
    const PairImportance* const pair = FindPair(report.pairs, two.parameters);
    ASSERT_NE(pair, nullptr);
    EXPECT_TRUE(AreSame(two.beyond, pair->share));
    double sum = pair->share.value;
    for (const int i : two.parameters) {
      sum += report.parameters[static_cast<std::size_t>(i)].main.value;
    }
    EXPECT_NEAR(two.together.value, sum, 1e-9);
  }
  // Whether or not the report has them.
  EvaluateOptions options = Asking(GetParam(), {{4, 3}});
  options.pairs = false;
  ASSERT_OK_AND_ASSIGN(const Report without,
                       Evaluate(space_, kLoss, history_, options));
  EXPECT_TRUE(without.pairs.empty());
  EXPECT_NEAR(without.subsets[0].beyond.value, report.subsets[1].beyond.value,
              1e-9);
}

TEST_P(NamedSubsetsOf, AllParametersExplainEverything) {
  const Report report = Ask({{4, 3, 2, 1, 0}});
  EXPECT_NEAR(report.subsets[0].together.value, 1.0, 1e-9);
  EXPECT_NEAR(report.subsets[0].together.lo95, 1.0, 1e-9);
  EXPECT_LT(report.subsets[0].beyond.value, 0.2);
}

TEST_P(NamedSubsetsOf, WhatIsAskedForChangesNoOtherNumber) {
  const Report alone = Ask({{0, 1, 2}});
  const Report many = Ask({{2, 3, 4}, {2, 1, 0}, {1}});
  const Report none = Ask({});
  EXPECT_TRUE(AreSame(alone.subsets[0].together, many.subsets[1].together));
  EXPECT_TRUE(AreSame(alone.subsets[0].beyond, many.subsets[1].beyond));
  EXPECT_TRUE(AreSame(alone.unexplained, none.unexplained));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(AreSame(alone.parameters[i].total, none.parameters[i].total));
    EXPECT_TRUE(AreSame(many.parameters[i].main, none.parameters[i].main));
  }
}

TEST_P(NamedSubsetsOf, NumbersAreTheSameToTheBitForAnyNumberOfThreads) {
  EvaluateOptions options = Asking(GetParam(), {{0, 1, 2}, {1, 2, 3, 4}});
  options.threads = 1;
  const Report alone = *Evaluate(space_, kLoss, history_, options);
  options.threads = 3;
  const Report three = *Evaluate(space_, kLoss, history_, options);
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_TRUE(AreSame(alone.subsets[s].together, three.subsets[s].together));
    EXPECT_TRUE(AreSame(alone.subsets[s].beyond, three.subsets[s].beyond));
  }
}

TEST_P(NamedSubsetsOf, AddingAParameterTakesNothingAway) {
  const Report report = Ask({{3}, {3, 4}, {3, 4, 0}, {3, 4, 0, 1}});
  double before = 0.0;
  for (const SubsetImportance& one : report.subsets) {
    const Interval& all = one.together;
    EXPECT_GE(all.value, before - 1e-9);
    EXPECT_TRUE(0.0 <= all.lo95 && all.lo95 <= all.lo80 &&
                all.lo80 <= all.value && all.value <= all.hi80 &&
                all.hi80 <= all.hi95 && all.hi95 <= 1.0);
    EXPECT_LE(one.beyond.value, all.value);
    before = all.value;
  }
}

TEST_P(NamedSubsetsOf, RefusesWhatIsNoSetOfParameters) {
  const std::pair<const char*, NamedSubsets> mistakes[] = {
      {"options.subsets[0]", {{}}},
      {"options.subsets[1]", {{0}, {0, 5}}},
      {"options.subsets[0]", {{-1, 2}}},
      {"options.subsets[0]", {{1, 2, 1}}},
      {"options.subsets[0]", {{0, 1, 2, 3, 4, 5, 6, 7, 8}}},
      {"options.subsets", NamedSubsets(kMaxSubsets + 1, {0, 1})},
  };
  for (const auto& [field, subsets] : mistakes) {
    EXPECT_THAT(Evaluate(space_, kLoss, history_, Asking(GetParam(), subsets)),
                FailsAt(ErrorId::kRequestInvalid, field));
  }
}

INSTANTIATE_TEST_SUITE_P(Evaluators, NamedSubsetsOf,
                         testing::Values("fanova", "levels", "forest"),
                         [](const auto& name) { return name.param; });

TEST(NamedSubsets, OthersSayWhichEvaluatorsKnowThem) {
  const Space space = LevelSpace(3, 5);
  for (const std::string evaluator : {"fanova-optuna", "mdi", "ped-anova"}) {
    const absl::Status status =
        Evaluate(space, kLoss, History(), Asking(evaluator, {{0, 1}})).status();
    EXPECT_THAT(status, FailsAt(ErrorId::kRequestInvalid, "options.subsets"));
    EXPECT_EQ(DetailOf(status)->fix,
              "take one of these evaluators: fanova, forest, levels");
  }
}

TEST(NamedSubsets, TooMuchWorkIsSaidToBe) {
  const NamedSubsets many(kMaxSubsets, {0, 1, 2});
  EXPECT_OK(CheckSubsetWork(many, 1e6));
  EXPECT_THAT(CheckSubsetWork(many, 1e9),
              FailsAt(ErrorId::kRequestInvalid, "options.subsets"));
  EXPECT_OK(CheckSubsetWork(NamedSubsets(kMaxSubsets, {0}), 1e12));
}

// All trials at one point.
TEST(NamedSubsets, NothingExplainedIsNothingOfAnySet) {
  const Space space = LevelSpace(3, 5);
  History history;
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    history.Put(Succeeded(i, {1, 2, 3}, rng.Normal()));
  }
  for (const std::string evaluator : {"levels", "forest"}) {
    const auto report =
        Evaluate(space, kLoss, history, Asking(evaluator, {{0, 1, 2}}));
    ASSERT_OK(report.status());
    EXPECT_EQ(report->subsets[0].together.value, 0.0);
    EXPECT_EQ(report->subsets[0].beyond.value, 0.0);
  }
}

}  // namespace
}  // namespace frostline::importance
