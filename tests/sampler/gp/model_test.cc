// SPDX-License-Identifier: Apache-2.0
//
// The parts of the Gaussian process against what they stand for.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "sampler/gp/beliefs.h"
#include "sampler/gp/levels.h"
#include "tests/sampler/gp/support.h"

namespace frostline::sampler {
namespace {

const std::vector<LevelAxis>& MixedAxes() {
  static const std::vector<LevelAxis> axes = *MakeLevelAxes(SpaceOf(
      {kSevenLevels, LogUniform{1e-7, 1e-3, true}, IntRange{1, 5, 1, false},
       Categorical{{"\"a\"", "\"b\"", "\"c\""}}, FloatRange{0, 1, 0, false}}));
  return axes;
}

TEST(Improvement, EqualsTheIntegral) {
  for (const double best : {-4.0, -1.5, 0.0, 0.7, 3.0}) {
    const double mean = 0.3, deviation = 0.8;
    double sum = 0.0;  // of (best - x) times the density, x below best
    constexpr double kWidth = 1e-4;
    for (double x = best - kWidth / 2; x > mean - 12.0; x -= kWidth) {
      const double u = (x - mean) / deviation;
      sum += (best - x) * std::exp(-u * u / 2.0);
    }
    sum *= kWidth / deviation / std::sqrt(2.0 * M_PI);
    EXPECT_NEAR(LogExpectedImprovement(mean, deviation, best), std::log(sum),
                1e-6);
  }
}

TEST(Improvement, RisesWithHopeHoweverFaint) {
  double before = -std::numeric_limits<double>::infinity();
  for (double mean = 1e6; mean > -1e3; mean -= std::abs(mean) * 0.01 + 0.01) {
    const double gain = LogExpectedImprovement(mean, 1.0, 0.0);
    ASSERT_TRUE(std::isfinite(gain)) << mean;
    ASSERT_GT(gain, before) << mean;
    before = gain;
  }
}

TEST(Targets, NoOutlierMovesTheOthersFar) {
  const std::vector<double> bad = TargetsOf({1, 2, 3, 4, 5, 6, 7, 1e3});
  const std::vector<double> odd = TargetsOf({1, 2, 3, 4, 5, 6, 7, 1e308});
  for (std::size_t i = 0; i + 1 < odd.size(); ++i) {
    EXPECT_LT(odd[i] + 0.1, odd[i + 1]);
    EXPECT_NEAR(odd[i], bad[i], 0.2);
  }
  EXPECT_EQ(TargetsOf({1e308, 1e308}), (std::vector<double>{0.0, 0.0}));
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double target : TargetsOf({-1e308, 1e308, 0.0, infinite})) {
    EXPECT_TRUE(std::isfinite(target));
  }
}

TEST(LevelAxis, EveryValueHasACellAndEveryCellAValue) {
  for (const LevelAxis& axis : MixedAxes()) {
    for (int cell = 0; cell < axis.choices(); ++cell) {
      EXPECT_EQ(axis.CellOf(axis.ValueOf(cell)), cell);
      EXPECT_GE(axis.places[static_cast<std::size_t>(cell)], 0.0);
      EXPECT_LE(axis.places[static_cast<std::size_t>(cell)], kAxisLength);
    }
  }
  EXPECT_EQ(MixedAxes()[0].CellOf(0.0), 6);  // frozen, behind the six rates
  EXPECT_EQ(MixedAxes()[1].CellOf(0.0), kLineCells);
}

TEST(StudyAxes, SayWhatEachCellIsAndHowMuchOfTheSpaceItHas) {
  using surrogate::CellKind;
  const Space space = SpaceOf({kSevenLevels, Categorical{{"\"a\"", "\"b\""}}});
  const auto axes = SearchAxes(space, *MakeLevelAxes(space), 2);
  ASSERT_EQ(axes.size(), 3u);
  EXPECT_EQ(axes[0].kinds.front(), CellKind::kOrdered);
  EXPECT_EQ(axes[0].kinds.back(), CellKind::kFrozen);
  EXPECT_NEAR(axes[0].masses[3], 1.0 / 7.0, 0.05);
  EXPECT_EQ(axes[1].kinds, std::vector(2, CellKind::kAlone));
  EXPECT_EQ(axes[2].cells(), 3u);  // this study and two earlier ones
}

TEST(LearntModel, RefreshesOftenAtFirstAndSeldomLater) {
  std::size_t refreshes = 0, before = 0;
  for (std::size_t trials = 0; trials <= 1000; ++trials) {
    const std::size_t at = LastRefresh(trials);
    EXPECT_LE(at, trials);
    EXPECT_LE(trials - at, std::max<std::size_t>(2, trials / 8));
    refreshes += at != before;
    before = at;
  }
  EXPECT_LT(refreshes, 60u);
}

}  // namespace
}  // namespace frostline::sampler
