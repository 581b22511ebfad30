// SPDX-License-Identifier: Apache-2.0
//
// The parts of the Gaussian process against what they stand for.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "sampler/gp/improvement.h"
#include "sampler/gp/inverse_factor.h"
#include "sampler/gp/learnt_model.h"
#include "sampler/gp/posterior.h"
#include "sampler/gp/targets.h"
#include "tests/sampler/gp/support.h"

namespace frostline {
namespace {

const std::vector<LevelAxis>& MixedAxes() {
  static const std::vector<LevelAxis> axes = *MakeLevelAxes(SpaceOf(
      {kSevenLevels, LogUniform{1e-7, 1e-3, true}, IntRange{1, 5, 1, false},
       Categorical{{"\"a\"", "\"b\"", "\"c\""}}, FloatRange{0, 1, 0, false}}));
  return axes;
}

// The textbook factorisation, L of K = L Lᵀ.
std::vector<std::vector<double>> FactorOf(std::vector<std::vector<double>> k) {
  const std::size_t n = k.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t m = 0; m < j; ++m) k[i][j] -= k[i][m] * k[j][m];
      k[i][j] = i == j ? std::sqrt(k[i][i]) : k[i][j] / k[j][j];
    }
  }
  return k;
}

struct Factored {
  std::vector<std::vector<double>> covariance;
  InverseFactor factor;
};

Factored FactorRows(const LevelKernel& kernel, const KernelRows& rows) {
  Factored result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> row =
        kernel.CovarianceWith(rows.At(i), rows.study[i], rows, i);
    result.factor.Append(row, kernel.variance() + kernel.noise());
    row.push_back(kernel.variance() + kernel.noise());
    result.covariance.push_back(std::move(row));
  }
  return result;
}

TEST(InverseFactor, GrownByRowsEqualsTheTextbookFactor) {
  Rng rng(1);
  const LevelKernel kernel(MixedAxes(), OddParameters(5, rng));
  const auto [covariance, factor] =
      FactorRows(kernel, DrawRows(MixedAxes(), 40, rng));
  const auto l = FactorOf(covariance);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(factor.pivot(i), l[i][i], 1e-9);
    for (std::size_t j = 0; j <= i; ++j) {  // W L = I
      double product = 0.0;
      for (std::size_t m = j; m <= i; ++m)
        product += factor.row(i)[m] * l[m][j];
      EXPECT_NEAR(product, i == j ? 1.0 : 0.0, 1e-9);
    }
  }
}

TEST(InverseFactor, ShrunkAndGrownAgainIsTheSameBitForBit) {
  Rng rng(2);
  const LevelKernel kernel(MixedAxes(), OddParameters(5, rng));
  const KernelRows rows = DrawRows(MixedAxes(), 30, rng);
  auto [covariance, factor] = FactorRows(kernel, rows);
  const std::vector<double> last(factor.row(29).begin(), factor.row(29).end());
  factor.Truncate(11);
  for (std::size_t i = 11; i < 30; ++i) {
    factor.Append(std::span(covariance[i]).first(i), covariance[i][i]);
  }
  EXPECT_TRUE(std::equal(last.begin(), last.end(), factor.row(29).begin()));
}

TEST(LevelKernel, IsPositiveDefiniteOnRandomPoints) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(seed);
    KernelParameters parameters = OddParameters(5, rng);
    parameters[kNoise] = std::log(1e-6);
    const LevelKernel kernel(MixedAxes(), parameters);
    const auto rows = DrawRows(MixedAxes(), 40, rng);
    const auto l = FactorOf(FactorRows(kernel, rows).covariance);
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_GT(l[i][i] * l[i][i], 0.5e-6) << "seed " << seed << " row " << i;
    }
  }
}

TEST(LevelKernel, FrozenIsAKindAndNotTheNextLevel) {
  const std::vector<LevelAxis> axes = *MakeLevelAxes(SevenLevelModules(1));
  KernelParameters parameters = UsualKernel(1).mean;
  const auto covariance = [&](double tie, int a, int b) {
    parameters[kFrozenTie] = tie;
    KernelRows rows;
    rows.Append({static_cast<std::uint8_t>(axes[0].CellOf(b))}, 0, 0.0);
    return LevelKernel(axes, parameters)
        .CovarianceWith({static_cast<std::uint8_t>(axes[0].CellOf(a))}, 0, rows,
                        1)[0];
  };
  EXPECT_NEAR(covariance(20.0, 0, 1), covariance(20.0, 1, 2), 1e-6);
  EXPECT_LT(covariance(-3.0, 0, 1), 0.7 * covariance(-3.0, 1, 2));
  EXPECT_EQ(covariance(-3.0, 0, 0), covariance(-3.0, 2, 2));
}

// Rows, targets and a posterior whose gradient is asked for.
TEST(KernelFit, GradientIsTheSlopeOfThePosterior) {
  Rng rng(3);
  const KernelRows rows = DrawRows(MixedAxes(), 25, rng);
  std::vector<double> targets;
  for (std::size_t i = 0; i < 25; ++i) targets.push_back(rng.Normal());
  const KernelPrior prior = UsualKernel(5);
  const KernelParameters at = OddParameters(5, rng);
  KernelParameters gradient, unused;
  LogPosterior(MixedAxes(), rows, targets, prior, at, gradient);
  for (std::size_t p = 0; p < at.size(); ++p) {
    KernelParameters above = at, below = at;
    above[p] += 1e-5;
    below[p] -= 1e-5;
    const double slope =
        (LogPosterior(MixedAxes(), rows, targets, prior, above, unused) -
         LogPosterior(MixedAxes(), rows, targets, prior, below, unused)) /
        2e-5;
    EXPECT_NEAR(gradient[p], slope, 1e-5 * std::max(1.0, std::abs(slope)))
        << "parameter " << p;
  }
}

TEST(KernelFit, LearnsThatFrozenIsDifferentAndWhichModuleMatters) {
  const std::vector<LevelAxis> axes = *MakeLevelAxes(SevenLevelModules(3));
  const auto fit = [&](double frozen_offset) {
    Rng rng(4);
    KernelRows rows;
    std::vector<double> losses;
    for (int i = 0; i < 60; ++i) {
      const Cells at = DrawCells(axes, rng);
      rows.Append(at, 0, 0.0);
      const double level = at[0] == 6 ? -1.0 : at[0];  // cell 6 is frozen
      losses.push_back(level + (at[0] == 6 ? frozen_offset : 0.0));
    }
    return FitKernel(axes, rows, TargetsOf(losses), UsualKernel(3), 25);
  };
  const KernelParameters smooth = fit(0.0), offset = fit(6.0);
  EXPECT_GT(smooth[kFrozenTie], offset[kFrozenTie] + 0.5);
  EXPECT_GT(smooth[kSharedParameters], smooth[kSharedParameters + 1] + 1.0);
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

// Walks at random and compares with a point placed anew.
TEST(PosteriorWalk, BelievesTheSameWhicheverWayItCame) {
  Rng rng(5);
  LevelPosterior posterior(MixedAxes());
  std::vector<double> targets;
  for (int i = 0; i < 30; ++i) targets.push_back(rng.Normal());
  posterior.Update(OddParameters(5, rng), DrawRows(MixedAxes(), 34, rng),
                   targets);
  PosteriorWalk walk(posterior, true), fresh(posterior, true);
  Cells at = DrawCells(MixedAxes(), rng);
  walk.Place(at);
  for (int step = 0; step < 50; ++step) {
    const std::size_t axis = rng.Below(at.size());
    at[axis] = DrawCells(MixedAxes(), rng)[axis];
    const int cell = at[axis];
    const Belief seen = walk.Look(axis, std::span(&cell, 1))[0];
    walk.Step(cell);
    fresh.Place(at);
    for (const Belief& belief : {seen, walk.Here()}) {
      ASSERT_NEAR(belief.mean, fresh.Here().mean, 1e-9);
      ASSERT_NEAR(belief.variance, fresh.Here().variance, 1e-9);
    }
    ASSERT_NEAR(posterior.MeanAt(at), fresh.Here().mean, 1e-9);
  }
}

TEST(LevelPosterior, FollowsRowsThatChangeInTheMiddle) {
  Rng rng(6);
  const KernelParameters parameters = OddParameters(5, rng);
  const KernelRows before = DrawRows(MixedAxes(), 20, rng);
  KernelRows after = before;
  after.cells[0][7] = after.cells[0][7] == 0 ? 1 : 0;
  const std::vector<double> targets(20, 1.0);
  LevelPosterior grown(MixedAxes()), fresh(MixedAxes());
  grown.Update(parameters, before, targets);
  grown.Update(parameters, after, targets);
  fresh.Update(parameters, after, targets);
  EXPECT_EQ(grown.weights(), fresh.weights());
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
}  // namespace frostline
