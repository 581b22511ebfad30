// SPDX-License-Identifier: Apache-2.0
//
// Functions whose decomposition is known.
#include <cmath>
#include <string>

#include "importance/evaluator.h"
#include "importance/forest/fanova.h"
#include "importance/forest/forest.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"
#include "tests/support/watched.h"

namespace frostline::importance {
namespace {

// Terms that are centred over each of their levels, so that each one's
// variance is its share: over 0 … 4, both tables have variance 2.
double LinearTruth(double level) { return level - 2.0; }
double BendTruth(double level) {
  return std::sqrt(2.0 / 2.8) * ((level - 2.0) * (level - 2.0) - 2.0);
}

double AdditiveTruth(const Point& p) {
  return 3.0 * LinearTruth(p[0]) + 2.0 * BendTruth(p[1]) + LinearTruth(p[2]);
}
double WithInteractions(const Point& p) {
  return 2.0 * LinearTruth(p[0]) + LinearTruth(p[0]) * BendTruth(p[1]) +
         0.5 * LinearTruth(p[0]) * LinearTruth(p[1]) * BendTruth(p[2]);
}

// On every point of the space a full tree is the function itself, and its
// decomposition is the function's.
Shares ExactShares(const Space& space, double (*target)(const Point&)) {
  std::vector<Point> grid;
  for (double a = 0; a < 5; ++a) {
    for (double b = 0; b < 5; ++b) {
      for (double c = 0; c < 5; ++c) grid.push_back({a, b, c});
    }
  }
  std::vector<const Point*> points;
  std::vector<double> losses;
  for (const Point& point : grid) {
    points.push_back(&point);
    losses.push_back(target(point));
  }
  const Dataset data = MakeDataset(MeasureSpace(space), points, losses);
  Rng rng(1);
  return ForestShares(
      {FitTree(data, data.targets, RowWeights(grid.size(), 1), rng)}, data.axes,
      {0, 1, 2});
}

TEST(Truths, AnAdditiveFunctionHasMainEffectsAlone) {
  const Shares shares = ExactShares(LevelSpace(3, 5), AdditiveTruth);
  EXPECT_NEAR(shares.main[0], 9.0 / 14.0, 1e-9);
  EXPECT_NEAR(shares.main[1], 4.0 / 14.0, 1e-9);
  EXPECT_NEAR(shares.main[2], 1.0 / 14.0, 1e-9);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(shares.total[i], shares.main[i], 1e-9);
    EXPECT_NEAR(shares.pairs[i], 0.0, 1e-9);
  }
  EXPECT_NEAR(shares.unexplained, 0.0, 1e-9);
}

TEST(Truths, InteractionsOfTwoAndThreeAreToldApart) {
  const Shares shares = ExactShares(LevelSpace(3, 5), WithInteractions);
  // Variances 4 · 2, 2 · 2 and 2 · 2 · 2 / 4.
  EXPECT_NEAR(shares.main[0], 8.0 / 14.0, 1e-9);
  EXPECT_NEAR(shares.main[1], 0.0, 1e-9);
  EXPECT_NEAR(shares.pairs[0], 4.0 / 14.0, 1e-9);
  EXPECT_NEAR(shares.pairs[1], 0.0, 1e-9);
  EXPECT_NEAR(shares.unexplained, 2.0 / 14.0, 1e-9);
  EXPECT_NEAR(shares.total[0], 1.0, 1e-9);
  EXPECT_NEAR(shares.total[1], 6.0 / 14.0, 1e-9);
  EXPECT_NEAR(shares.total[2], 2.0 / 14.0, 1e-9);
}

TEST(Truths, FromUniformTrialsTheSharesComeOutAndTheRankingIsRight) {
  const Space space = LevelSpace(3, 5);
  const History history = UniformTrials(
      space, 300, [](const Point& p, Rng&) { return AdditiveTruth(p); });
  EvaluateOptions options;
  options.bootstraps = 16;
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, options));
  EXPECT_NEAR(report.parameters[0].main.value, 9.0 / 14.0, 0.05);
  EXPECT_NEAR(report.parameters[1].main.value, 4.0 / 14.0, 0.05);
  EXPECT_NEAR(report.parameters[2].main.value, 1.0 / 14.0, 0.03);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(report.parameters[static_cast<std::size_t>(i)].rank, i + 1);
    EXPECT_TRUE(report.parameters[static_cast<std::size_t>(i)].distinguishable);
  }
  EXPECT_GT(report.out_of_bag_r2, 0.95);
}

TEST(Truths, AParameterThatDoesNothingIsNotTakenForOneThatDoes) {
  const Space space = LevelSpace(6, 7);
  const History history = UniformTrials(
      space, 150,
      [](const Point& p, Rng& rng) { return p[2] + 0.5 * rng.Normal(); });
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, EvaluateOptions()));
  for (const ParameterImportance& one : report.parameters) {
    EXPECT_EQ(one.distinguishable, one.parameter == 2) << one.parameter;
  }
  EXPECT_EQ(report.parameters[2].rank, 1);
  EXPECT_EQ(report.parameters[2].top3_probability, 1.0);
}

// Four rates that matter equally on the logarithm of the rate, from 1e-10 up.
TEST(Truths, EqualRatesAreEqualOnTheLogarithm) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 4; ++i) {
    parameters.push_back(
        {"p" + std::to_string(i), LogUniform{1e-10, 1e-5, false}, {}});
  }
  const Space space(parameters, {}, std::nullopt);
  const History history = UniformTrials(space, 400, [](const Point& p, Rng&) {
    double sum = 0.0;
    for (const double rate : p) sum += std::log10(rate);
    return sum;
  });
  EvaluateOptions options;
  options.bootstraps = 0;
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, options));
  double sum = 0.0;
  for (const auto& one : report.parameters) sum += one.main.value;
  for (const auto& one : report.parameters) {
    EXPECT_NEAR(one.main.value / sum, 0.25, 0.06);
    EXPECT_LT(one.direction, -0.9);  // a higher rate, a higher loss
  }
}

// Frozen is worth 1, every rate 0: all variance is the decision to freeze.
TEST(Truths, FrozenIsALevelOfItsOwn) {
  const Space space({{"layer.0", LogUniform{1e-9, 1e-3, true}, {}},
                     {"layer.1", LogUniform{1e-9, 1e-3, true}, {}}},
                    {}, std::nullopt);
  const History history = UniformTrials(
      space, 100, [](const Point& p, Rng&) { return p[0] == 0.0 ? 1.0 : 0.0; });
  EvaluateOptions options;
  options.bootstraps = 0;
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, options));
  EXPECT_NEAR(report.parameters[0].main.value, 1.0, 1e-3);
  EXPECT_NEAR(report.parameters[1].main.value, 0.0, 1e-3);
  EXPECT_GT(report.parameters[0].direction, 0.0);
}

// Main effects and totals of a cliff over four of seven parameters with seven
// levels: 1 - p⁴ of points at 3 and above, p = 4/7, and its variances.
struct CliffShares {
  double main = 0.0;
  double total = 0.0;
};

CliffShares SharesOfCorner() {
  const double p = 4.0 / 7.0;
  const double variance = std::pow(p, 4) * (1.0 - std::pow(p, 4));
  return {std::pow(p, 7) * (1.0 - p) / variance,
          std::pow(p, 4) * (1.0 - p) / variance};
}

double MissedOfCorner(const std::string& evaluator) {
  const Space space = LevelSpace(7, 7);
  const CliffShares truth = SharesOfCorner();
  double missed = 0.0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const History history = UniformTrials(
        space, 300,
        [](const Point& p, Rng& rng) {
          const bool falls = p[0] >= 3 && p[1] >= 3 && p[2] >= 3 && p[3] >= 3;
          return (falls ? 1.0 : 0.0) + 0.1 * rng.Normal();
        },
        seed);
    EvaluateOptions options;
    options.evaluator = evaluator;
    options.bootstraps = 0;
    const Report report = *Evaluate(space, kLoss, history, options);
    for (std::size_t i = 0; i < 4; ++i) {
      const ParameterImportance& one = report.parameters[i];
      missed += std::abs(one.main.value - truth.main) / 16.0 +
                std::abs(one.total.value - truth.total) / 16.0;
    }
  }
  return missed;
}

TEST(Truths, ACliffOfFourParametersIsFoundNearlyAsWellAsByAForestAlone) {
  if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  const double missed = MissedOfCorner("fanova");
  EXPECT_LT(missed, 0.04);
  EXPECT_LT(missed, 0.5 * MissedOfCorner("levels"));
  EXPECT_LT(missed, 1.5 * MissedOfCorner("forest"));
}

// Level effects cut a range into twelfths; the forest finds the place.
TEST(Truths, AStepWithinAStretchOfARangeIsNotSmearedOut) {
  const Space space({{"x", FloatRange{0, 1, 0, false}, {}},
                     {"y", FloatRange{0, 1, 0, false}, {}}},
                    {}, std::nullopt);
  const History history = UniformTrials(space, 400, [](const Point& p, Rng&) {
    return p[0] > 0.54 && p[1] > 0.29 ? 1.0 : 0.0;
  });
  ASSERT_OK_AND_ASSIGN(const Report report,
                       Evaluate(space, kLoss, history, EvaluateOptions()));
  // a = .46, b = .71: Var = ab(1 - ab), main effects a(1 - a)b², …
  const double variance = 0.46 * 0.71 * (1.0 - 0.46 * 0.71);
  EXPECT_NEAR(report.parameters[0].main.value,
              0.46 * 0.54 * 0.71 * 0.71 / variance, 0.04);
  EXPECT_NEAR(report.parameters[1].main.value,
              0.71 * 0.29 * 0.46 * 0.46 / variance, 0.04);
  EXPECT_LT(report.unexplained.value, 0.01);
}

TEST(Truths, NoiseAloneIsNotExplainedByAForestEither) {
  const Space space = LevelSpace(5, 7);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const History history = UniformTrials(
        space, 200, [](const Point&, Rng& rng) { return rng.Normal(); }, seed);
    EvaluateOptions options;
    options.bootstraps = 0;
    ASSERT_OK_AND_ASSIGN(const Report report,
                         Evaluate(space, kLoss, history, options));
    EXPECT_LT(report.out_of_bag_r2, 0.1);
    // The process leaves it open that a little is of many parameters at once.
    EXPECT_GT(report.noise_share, 0.75);
    for (const auto& [what, part] : report.carried_by) {
      EXPECT_TRUE(what != "forest" || part == 0.0);
    }
  }
}

}  // namespace
}  // namespace frostline::importance
