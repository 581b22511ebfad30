// SPDX-License-Identifier: Apache-2.0
#include "importance/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "importance/cells.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"
#include "tests/support/watched.h"

namespace frostline::importance {
namespace {

using surrogate::CellKind;

const std::vector<Objective> kPlainScore = {{"score", Direction::kMaximize}};

// Over the levels 0 … 6, mean 0.
double Bump(double level) {
  return 2.0 - std::abs(level - 4.0) / 2.0 - 7.5 / 7.0;
}

MarginalCurve CurveOf(const Space& space, const std::vector<Objective>& goal,
                      const History& history, std::size_t parameter) {
  const auto curves = MarginalCurves(space, goal, history, {});
  EXPECT_OK(curves);
  return (*curves)[parameter];
}

TEST(MarginalCurves, IntervalsHoldTheTruthAsOftenAsTheySay) {
  if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  const Space space = LevelSpace(4, 7);
  double held95 = 0.0, held80 = 0.0, all = 0.0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const History history = UniformTrials(
        space, 120,
        [](const Point& p, Rng& rng) {
          return 10.0 + Bump(p[0]) + (p[1] - 3.0) / 6.0 + 0.5 * rng.Normal();
        },
        seed);
    ASSERT_OK_AND_ASSIGN(const std::vector<MarginalCurve> curves,
                         MarginalCurves(space, kPlainScore, history, {}));
    for (std::size_t i = 0; i < 4; ++i) {
      for (const CurvePoint& at : curves[i].points) {
        const double truth = 10.0 + (i == 0   ? Bump(at.value)
                                     : i == 1 ? (at.value - 3.0) / 6.0
                                              : 0.0);
        const Interval& seen = at.expected;
        held95 += seen.lo95 <= truth && truth <= seen.hi95 ? 1.0 : 0.0;
        held80 += seen.lo80 <= truth && truth <= seen.hi80 ? 1.0 : 0.0;
        all += 1.0;
      }
    }
  }
  EXPECT_GE(held95 / all, 0.90);
  EXPECT_LE(held95 / all, 0.985);
  EXPECT_GE(held80 / all, 0.72);
  EXPECT_LE(held80 / all, 0.92);
}

TEST(MarginalCurves, BestIsHighWhereScoresAreAndLowWhereLossesAre) {
  const Space space = LevelSpace(2, 7);
  const History history = UniformTrials(
      space, 200, [](const Point& p, Rng&) { return 100.0 * Bump(p[0]); });
  const MarginalCurve up = CurveOf(space, kPlainScore, history, 0);
  const MarginalCurve down = CurveOf(space, kLoss, history, 0);
  EXPECT_EQ(up.best, 4.0);
  EXPECT_EQ(down.best, 0.0);
  for (std::size_t level = 0; level < 7; ++level) {
    const double truth = 100.0 * Bump(static_cast<double>(level));
    EXPECT_NEAR(up.points[level].expected.value, truth, 0.1);
    EXPECT_NEAR(down.points[level].expected.value, truth, 0.1);
    EXPECT_LE(down.points[level].expected.lo95,
              down.points[level].expected.lo80);
  }
}

TEST(MarginalCurves, ALevelNobodyTriedIsUncertain) {
  const Space space = LevelSpace(2, 5);
  const History all = UniformTrials(space, 150, [](const Point& p, Rng& rng) {
    return p[0] + 0.1 * rng.Normal();
  });
  History some;
  for (const Observation& trial : all.trials()) {
    if (trial.point[0] != 2.0) some.Put(trial);
  }
  const MarginalCurve curve = CurveOf(space, kLoss, some, 0);
  const auto width = [&curve](std::size_t level) {
    const Interval& expected = curve.points[level].expected;
    return expected.hi95 - expected.lo95;
  };
  EXPECT_EQ(curve.points[2].trials, 0);
  EXPECT_GT(curve.points[1].trials, 10);
  EXPECT_GT(width(2), 10.0 * width(1));
  EXPECT_LE(curve.points[2].expected.lo95, 2.0);
  EXPECT_GE(curve.points[2].expected.hi95, 2.0);
}

TEST(MarginalCurves, AnUntriedLevelOfWhatDoesNothingIsUncertainToo) {
  const Space space = LevelSpace(2, 5);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const History all = UniformTrials(
        space, 150,
        [](const Point& p, Rng& rng) { return p[0] + 0.1 * rng.Normal(); },
        seed);
    History some;
    for (const Observation& trial : all.trials()) {
      if (trial.point[1] != 2.0) some.Put(trial);
    }
    const MarginalCurve curve = CurveOf(space, kLoss, some, 1);
    const auto width = [&curve](std::size_t level) {
      const Interval& expected = curve.points[level].expected;
      return expected.hi95 - expected.lo95;
    };
    EXPECT_GT(width(2), 1.02 * width(1)) << seed;
  }
}

Space Mixed() {
  Condition when;
  when.parent = 0;
  when.min = 2.0;
  when.max = 6.0;
  return Space({{"layer.0", Levels{{0, 1, 2, 3, 4, 5, 6}}, {}},
                {"lr", LogUniform{1e-8, 1e-2, true}, {}},
                {"k", IntRange{1, 300, 1, true}, when},
                {"c", Categorical{{"1", "2", "3"}}, {}},
                {"x", FloatRange{-1, 2, 0, false}, {}}},
               {}, std::nullopt);
}

TEST(MarginalCurves, FrozenAbsentChoicesAndStretchesEachHaveTheirPoint) {
  const Space space = Mixed();
  const History history =
      UniformTrials(space, 400, [](const Point& p, Rng& rng) {
        return (p[1] == 0.0 ? 5.0 : std::log10(p[1])) + p[3] * p[3] + p[4] +
               (IsAbsent(p[2]) ? 4.0 : 0.0) + 0.1 * rng.Normal();
      });
  ASSERT_OK_AND_ASSIGN(const std::vector<MarginalCurve> curves,
                       MarginalCurves(space, kLoss, history, {}));
  const auto& rate = curves[1].points;
  ASSERT_EQ(rate.size(), 13u);
  EXPECT_EQ(rate[0].value, 0.0);
  // Twelve stretches of six decades: the middle of the first is a quarter up.
  EXPECT_NEAR(std::log10(rate[1].value), -7.75, 1e-9);
  EXPECT_NEAR(std::log10(rate[12].value), -2.25, 1e-9);
  EXPECT_NEAR(rate[12].expected.value - rate[1].expected.value, 5.5, 0.4);
  EXPECT_NEAR(rate[0].expected.value - rate[1].expected.value, 12.75, 0.4);
  EXPECT_NEAR(curves[1].best, rate[1].value, 1e-15);

  EXPECT_TRUE(IsAbsent(curves[2].points[0].value));
  EXPECT_FALSE(IsAbsent(curves[2].best));
  std::int64_t absent = 0;
  for (const Observation& trial : history.trials()) {
    absent += IsAbsent(trial.point[2]) ? 1 : 0;
  }
  EXPECT_EQ(curves[2].points[0].trials, absent);

  ASSERT_EQ(curves[3].points.size(), 3u);
  EXPECT_EQ(curves[3].points[2].value, 2.0);
  EXPECT_NEAR(
      curves[3].points[2].expected.value - curves[3].points[0].expected.value,
      4.0, 0.2);
  EXPECT_EQ(curves[3].best, 0.0);
  EXPECT_NEAR(curves[4].points[0].value, -0.875, 1e-9);
  for (const MarginalCurve& curve : curves) {
    std::int64_t trials = 0;
    for (const CurvePoint& at : curve.points) trials += at.trials;
    EXPECT_EQ(trials, 400);
  }
}

TEST(MarginalCurves, MoreChoicesThanCellsAreStillToldOneByOne) {
  std::vector<std::string> choices;
  for (int i = 0; i < 60; ++i) choices.push_back(std::to_string(i));
  const Space space(
      {{"c", Categorical{choices}, {}}, {"x", FloatRange{0, 1, 0, false}, {}}},
      {}, std::nullopt);
  const History history = UniformTrials(
      space, 300, [](const Point& p, Rng&) { return p[0] + p[1]; });
  const MarginalCurve curve = CurveOf(space, kLoss, history, 0);
  ASSERT_EQ(curve.points.size(), 60u);
  for (std::size_t c = 0; c < 60; ++c) {
    std::int64_t seen = 0;
    for (const Observation& trial : history.trials()) {
      seen += trial.point[0] == static_cast<double>(c) ? 1 : 0;
    }
    EXPECT_EQ(curve.points[c].value, static_cast<double>(c));
    EXPECT_EQ(curve.points[c].trials, seen);
  }
}

TEST(PairTable, HasBothMainEffectsAndTheInteraction) {
  const Space space = LevelSpace(3, 4);
  const auto truth = [](double a, double b) {
    return a + 2.0 * b + (a == 3.0 && b == 0.0 ? 8.0 : 0.0);
  };
  const History history =
      UniformTrials(space, 400, [&truth](const Point& p, Rng& rng) {
        return truth(p[0], p[2]) + 0.1 * rng.Normal();
      });
  ASSERT_OK_AND_ASSIGN(const MarginalTable table,
                       PairTable(space, kPlainScore, history, {}, 2, 0));
  ASSERT_EQ(table.expected.size(), 16u);
  std::int64_t trials = 0;
  for (std::size_t b = 0; b < 4; ++b) {
    for (std::size_t a = 0; a < 4; ++a) {
      EXPECT_NEAR(table.expected[b * 4 + a],
                  truth(table.second_values[a], table.first_values[b]), 0.3);
      trials += table.trials[b * 4 + a];
    }
  }
  EXPECT_EQ(trials, 400);
}

TEST(PairTable, ParametersThatThereAreNotAreRefused) {
  const Space space = LevelSpace(2, 4);
  const History history =
      UniformTrials(space, 50, [](const Point& p, Rng&) { return p[0]; });
  for (const auto& [first, second] :
       {std::pair(-1, 0), std::pair(0, 2), std::pair(1, 1)}) {
    EXPECT_TRUE(
        HasErrorId(PairTable(space, kLoss, history, {}, first, second).status(),
                   ErrorId::kRequestInvalid));
  }
}

TEST(MarginalCurves, WhatCannotBeExplainedIsAnErrorOfEvaluate) {
  const Space space = LevelSpace(2, 4);
  const auto flat = [](const Point&, Rng&) { return 1.0; };
  EXPECT_TRUE(HasErrorId(
      MarginalCurves(space, kLoss, UniformTrials(space, 2, flat), {}).status(),
      ErrorId::kTrialsTooFew));
  EXPECT_TRUE(HasErrorId(
      MarginalCurves(space, kLoss, UniformTrials(space, 20, flat), {}).status(),
      ErrorId::kTargetConstant));
  EvaluateOptions options;
  options.top_quantile = std::nan("");
  EXPECT_TRUE(
      HasErrorId(MarginalCurves(space, kLoss, History(), options).status(),
                 ErrorId::kRequestInvalid));
}

StudyRows RowsOf(const Space& space, const History& history) {
  std::vector<const Point*> points;
  std::vector<double> values;
  for (const Observation& trial : history.trials()) {
    points.push_back(&trial.point);
    values.push_back(trial.values[0]);
  }
  return MakeStudyRows(space, points, std::move(values), {});
}

double FirstOf(const Point& p, Rng&) { return IsAbsent(p[0]) ? 0.0 : p[0]; }

TEST(SurrogateRows, LevelsAreOneStepApartAndFrozenStandsBefore) {
  const Space space = LevelSpace(2, 4);
  const StudyRows study = RowsOf(space, UniformTrials(space, 20, FirstOf));
  const surrogate::Axis& axis = study.rows.axes[0];
  ASSERT_EQ(axis.cells(), 4u);
  EXPECT_EQ(axis.kinds[0], CellKind::kFrozen);
  EXPECT_EQ(axis.kinds[1], CellKind::kOrdered);
  EXPECT_EQ(axis.places[3] - axis.places[1], 2.0);
  EXPECT_DOUBLE_EQ(axis.masses[2], 0.25);
  for (std::size_t row = 0; row < 20; ++row) {
    EXPECT_EQ(study.rows.cells[row][0], study.rows.values[row]);
  }
}

TEST(SurrogateRows, ARangeIsSixStepsLongAndChoicesStandAlone) {
  const Space space({{"rate", LogUniform{1e-6, 1e-3, true}, {}},
                     {"batch", Categorical{{"16", "32", "64"}}, {}},
                     {"width", IntRange{1, 100, 1, false}, {}}},
                    {}, std::nullopt);
  const StudyRows study = RowsOf(space, UniformTrials(space, 40, FirstOf));
  const surrogate::Axis& rate = study.rows.axes[0];
  EXPECT_EQ(rate.kinds[0], CellKind::kFrozen);
  EXPECT_NEAR(rate.masses[0], 0.2, 1e-12);
  EXPECT_NEAR(rate.places.back() - rate.places[1], 6.0, 1e-9);
  EXPECT_THAT(study.rows.axes[1].kinds, testing::Each(CellKind::kAlone));
  EXPECT_NEAR(study.rows.axes[2].places.back(), 6.0, 1e-9);
  for (const surrogate::Axis& axis : study.rows.axes) {
    EXPECT_NEAR(std::accumulate(axis.masses.begin(), axis.masses.end(), 0.0),
                1.0, 1e-9);
  }
}

TEST(SurrogateRows, AbsentIsACellOfItsOwn) {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  const Space space({{"adapter", Categorical{{"false", "true"}}, {}},
                     {"rate", Levels{{0.0, 1e-5, 1e-4}}, when}},
                    {}, std::nullopt);
  const StudyRows study = RowsOf(space, UniformTrials(space, 30, FirstOf));
  const surrogate::Axis& rate = study.rows.axes[1];
  ASSERT_EQ(rate.cells(), 4u);
  EXPECT_EQ(rate.kinds[0], CellKind::kAlone);
  EXPECT_EQ(rate.kinds[1], CellKind::kFrozen);
  EXPECT_NEAR(rate.masses[0], 0.5, 1e-12);
  EXPECT_TRUE(IsAbsent(study.choices[1].values[0].value));
  EXPECT_EQ(study.CellsOf({0, 0})[1], 0);
}

TEST(SurrogateRows, OfVeryManyParametersKeepsThoseThatMatter) {
  const Space space = LevelSpace(60, 3);
  const StudyRows study =
      RowsOf(space, UniformTrials(space, 100, [](const Point& p, Rng& rng) {
               return p[57] + p[3] + 0.1 * rng.Normal();
             }));
  EXPECT_EQ(study.parameters.size(), kMaxSurrogateAxes);
  EXPECT_EQ(study.left_out.size(), 60 - kMaxSurrogateAxes);
  EXPECT_THAT(study.parameters, testing::IsSupersetOf({3u, 57u}));
  EXPECT_EQ(study.rows.axes.size(), kMaxSurrogateAxes);
}

}  // namespace
}  // namespace frostline::importance
