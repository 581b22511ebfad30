// SPDX-License-Identifier: Apache-2.0
#include "importance/cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/importance/trials.h"

namespace frostline::importance {
namespace {

using surrogate::CellKind;

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
