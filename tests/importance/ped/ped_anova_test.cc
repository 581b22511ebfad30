// SPDX-License-Identifier: Apache-2.0
#include "importance/ped/ped_anova.h"

#include <cmath>
#include <numeric>

#include "importance/evaluator.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

using testing::Each;
using testing::ElementsAre;

// How many of `values` lie at each place of a domain's grid.
std::vector<int> CountOn(const Domain& domain,
                         const std::vector<double>& values,
                         std::size_t places) {
  const PedGrid grid(domain, false);
  EXPECT_EQ(grid.size(), places);
  std::vector<int> counts(grid.size(), 0);
  for (const double value : values) ++counts[grid.PlaceOf(value)];
  return counts;
}

EvaluateOptions Ped() {
  EvaluateOptions options;
  options.evaluator = "ped-anova";
  options.bootstraps = 16;
  return options;
}

TEST(GridDensity, WidthsAreThoseOfScottsRule) {
  EXPECT_NEAR(ScottWidth({1, 2, 3, 4}), 0.7043276, 1e-7);
  EXPECT_NEAR(ScottWidth({90, 0, 0, 90}), 0.5638226, 1e-7);
  EXPECT_NEAR(ScottWidth({1, 0, 0, 1}), 1.9556729, 1e-7);
  EXPECT_NEAR(ScottWidth({0, 7, 0}), 0.5 / 1.64, 1e-15);
}

TEST(GridDensity, SharesSumToOneAndFollowTheCounts) {
  for (const auto& density :
       {DensityOnGrid({5, 0, 0, 1}), DensityOfChoices({5, 0, 0, 1})}) {
    EXPECT_NEAR(std::accumulate(density.begin(), density.end(), 0.0), 1.0,
                1e-14);
    EXPECT_THAT(density, Each(testing::Gt(0.01)));
    EXPECT_GT(density[0], density[3]);
  }
  const auto choices = DensityOfChoices({5, 0, 0, 1});
  EXPECT_DOUBLE_EQ(choices[1], choices[2]);
  // Each row of the three kernels has 1 + 4/3; the prior's has a quarter each.
  EXPECT_NEAR(choices[0], (5.0 + 6.0 / 3.0) / (7.0 / 3.0) / 7.0 + 0.25 / 7.0,
              1e-15);
}

TEST(PedGrid, ValuesGoToTheNearestPlaceAndMiddlesToTheLower) {
  EXPECT_THAT(CountOn(IntRange{-5, 5, 1, false}, {-5, -5, 1, 5, 5}, 11),
              ElementsAre(2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2));
  EXPECT_THAT(CountOn(IntRange{1, 8, 1, true}, {1, 2, 3, 4, 5, 6, 7, 8}, 4),
              ElementsAre(1, 1, 3, 3));
  EXPECT_THAT(CountOn(FloatRange{0, 2, 0.5, false}, {0, 0.5, 2}, 5),
              ElementsAre(1, 1, 0, 0, 1));
  // 101 integers on 50 places: 50 is the middle between two.
  EXPECT_EQ(PedGrid(IntRange{0, 100, 1, false}, false).PlaceOf(50), 24);
  EXPECT_EQ(PedGrid(LogUniform{1e-9, 1e-1, true}, false).PlaceOf(1e-1), 49);
}

TEST(PedAnova, TheBestTrialsAreThoseUpToTheQuantilesLossTiesIncluded) {
  const std::vector<double> losses = {3, 1, 2, 2, 5, 4, 9, 9, 9, 9};
  CountedTrials all;
  for (std::uint32_t t = 0; t < losses.size(); ++t) all.emplace_back(t, 1);
  PedAnovaOptions options;
  const auto count = [&](double quantile) {
    return BestTrials(losses, quantile, options, all).size();
  };
  EXPECT_EQ(count(0.1), 1u);
  EXPECT_EQ(count(0.11), 3u);
  EXPECT_EQ(count(0.7), 10u);
  options.conditional = false;  // at least two, and their ties
  EXPECT_EQ(count(0.1), 3u);
}

TEST(PedAnova, ARegimeCountsByItsSharesOfGoodTrialsAndOfAll) {
  std::vector<double> values;
  CountedTrials all, good, having, good_having;
  for (std::uint32_t t = 0; t < 40; ++t) {
    const bool lacks = t % 4 == 0;
    values.push_back(lacks ? kAbsent : t / 40.0);
    all.emplace_back(t, 1);
    if (t < 10) good.emplace_back(t, 1);
    if (!lacks) having.emplace_back(t, 1);
    if (!lacks && t < 10) good_having.emplace_back(t, 1);
  }
  const PedAxis axis(FloatRange{0, 1, 0, false}, values, {});
  const double among = axis.Importances(having, {good_having})[0];
  const auto squared = [](double x) { return x * x; };
  // Good: 7 of 10 have it, of all: 30 of 40.
  const double divergence = among / squared(7.0 / 30.0);
  EXPECT_GT(divergence, 0.5);
  EXPECT_NEAR(axis.Importances(all, {good})[0],
              squared(0.7) / 0.75 * divergence * squared(10.0 / 40.0), 1e-14);
}

TEST(PedAnova, WhatMattersForTheBestComesFirstWithItsDirection) {
  const Space space({{"rate", LogUniform{1e-9, 1e-1, false}, {}},
                     {"layer", Levels{{0, 1e-5, 2e-5, 4e-5, 8e-5}}, {}},
                     {"idle", FloatRange{0, 1, 0, false}, {}},
                     {"fixed", IntRange{3, 3, 1, false}, {}}},
                    {}, std::nullopt);
  const History history = UniformTrials(space, 400, [](const Point& p, Rng&) {
    return std::log(p[0]) - 2.0 * p[1];
  });
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, Ped()));
  EXPECT_EQ(report.parameters[0].rank, 1);
  EXPECT_LT(report.parameters[0].direction, -0.5);
  EXPECT_GT(report.parameters[1].direction, 0.5);
  EXPECT_TRUE(report.parameters[0].distinguishable);
  EXPECT_FALSE(report.parameters[2].distinguishable);
  EXPECT_EQ(report.parameters[3].main.value, 0.0);
  EXPECT_TRUE(std::isnan(report.parameters[0].total.value));
  EXPECT_EQ(report.unexplained.value, 0.0);
  EXPECT_EQ(report.trials_used, 400);
}

TEST(PedAnova, OfARateThatMayBeFrozenFrozenCounts) {
  const Space space({{"a", LogUniform{1e-9, 1e-1, true}, {}},
                     {"b", LogUniform{1e-9, 1e-1, true}, {}}},
                    {}, std::nullopt);
  // Only whether a is frozen matters; where it is not, its rate does not.
  const History history =
      UniformTrials(space, 400, [](const Point& p, Rng& rng) {
        return (p[0] == 0.0 ? 0.0 : 10.0) + rng.Normal();
      });
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, Ped()));
  EXPECT_GT(report.parameters[0].main.value, 0.7);
  EXPECT_TRUE(report.parameters[0].distinguishable);
}

TEST(PedAnova, TheRegionIsTheTopQuantile) {
  const Space space = LevelSpace(2, 7);
  const History history =
      UniformTrials(space, 300, [](const Point& p, Rng& rng) {
        // The second decides only among the best.
        return p[0] > 2.0 ? 100.0 : p[1] + 0.01 * rng.Normal();
      });
  EvaluateOptions options = Ped();
  ASSERT_OK_AND_ASSIGN(const Report whole,
                       Evaluate(space, kLoss, history, options));
  options.top_quantile = 0.3;
  ASSERT_OK_AND_ASSIGN(const Report best,
                       Evaluate(space, kLoss, history, options));
  EXPECT_GT(best.parameters[1].main.value, whole.parameters[1].main.value);
  EXPECT_EQ(best.trials_used, 90);
  EXPECT_EQ(best.trials_left_out, 210);
}

TEST(PedAnova, BadQuantilesAndTooMuchOfOneValueAreSaidToBeSo) {
  const Space space = LevelSpace(2, 7);
  const History history =
      UniformTrials(space, 50, [](const Point& p, Rng&) { return p[0]; });
  EvaluateOptions options = Ped();
  options.top_quantile = 0.1;
  EXPECT_THAT(Evaluate(space, kLoss, history, options),
              FailsAt(ErrorId::kRequestInvalid, "options.top_quantile"));
  options.ped_anova.target_quantile = std::nan("");
  EXPECT_THAT(
      Evaluate(space, kLoss, history, options),
      FailsAt(ErrorId::kRequestInvalid, "options.ped_anova.target_quantile"));
  options = Ped();
  options.top_quantile = 0.11;
  const History steep = UniformTrials(
      space, 50, [](const Point&, Rng& rng) { return rng.Normal(); });
  EXPECT_THAT(Evaluate(space, kLoss, steep, options),
              FailsWith(ErrorId::kTrialsTooFew));
  options = Ped();
  int trial = 0;
  const History flat = UniformTrials(
      space, 50, [&](const Point&, Rng&) { return trial++ == 0 ? 0.0 : 1.0; });
  EXPECT_THAT(Evaluate(space, kLoss, flat, options),
              FailsWith(ErrorId::kTargetConstant));
}

TEST(PedAnova, AParameterSomeTrialsLackIsJudgedAmongThoseThatHaveIt) {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  const Space space({{"c", Categorical{{"1", "2"}}, {}},
                     {"x", FloatRange{0, 1, 0, false}, when}},
                    {}, std::nullopt);
  const History history = UniformTrials(space, 300, [](const Point& p, Rng&) {
    return IsAbsent(p[1]) ? 1.0 + 1e-9 * p[0] : p[1];
  });
  EvaluateOptions options = Ped();
  EXPECT_GT(Evaluate(space, kLoss, history, options)->parameters[1].main.value,
            0.5);
  options.ped_anova.conditional = false;
  ASSERT_OK_AND_ASSIGN(const Report older,
                       Evaluate(space, kLoss, history, options));
  EXPECT_EQ(older.parameters[1].main.value, 0.0);
  ASSERT_FALSE(older.warnings.empty());
  EXPECT_EQ(older.warnings.back().code, "PARAMETER_LEFT_OUT");
}

}  // namespace
}  // namespace frostline::importance
