// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/level_effects.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "importance/effects/level_effects_shares.h"
#include "importance/evaluator.h"
#include "importance/measure/dataset.h"
#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"
#include "tests/support/watched.h"

namespace frostline::importance {
namespace {

using Target = std::function<double(const Point&)>;

LevelEffects ModelOf(const Space& space, const std::vector<Point>& points,
                     const std::vector<double>& targets) {
  const std::vector<MeasuredAxis> measured = MeasureSpace(space);
  std::vector<EffectAxis> axes;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    std::vector<double> codes;
    for (const Point& point : points)
      codes.push_back(measured[i].CodeOf(point[i]));
    axes.push_back(MakeEffectAxis(measured[i], codes));
  }
  return LevelEffects(std::move(axes), targets);
}

struct Trials {
  std::vector<Point> points;
  std::vector<double> targets;
};

Trials Draw(const Space& space, int count, double noise, const Target& target,
            std::uint64_t seed = 1) {
  Rng rng(seed);
  Trials trials;
  for (int i = 0; i < count; ++i) {
    trials.points.push_back(
        sampler::DrawPoint(space, sampler::kFrozenShare, rng));
    trials.targets.push_back(target(trials.points.back()) +
                             noise * rng.Normal());
  }
  return trials;
}

// Deviation 1 over levels 0 … 6, mean 0.
double Linear(double level) { return (level - 3.0) / 2.0; }
double Top(double level) {
  return (level == 6.0 ? 6.0 : -1.0) / std::sqrt(6.0);
}

// Shares .64 and .16 for two main effects, .20 for their pair; two do nothing.
double Paired(const Point& p) {
  return 0.8 * Linear(p[0]) + 0.4 * Top(p[1]) +
         std::sqrt(0.2) * Top(p[0]) * Linear(p[1]);
}

TEST(LevelEffects, NoisyTrialsGiveTheSharesOfWhatIsBehindThem) {
  const Space space = LevelSpace(4, 7);
  const Trials trials = Draw(space, 300, 0.3, Paired);
  const LevelEffects model = ModelOf(space, trials.points, trials.targets);
  const EffectShares shares = SharesOf(model);
  EXPECT_NEAR(shares.main[0], 0.64, 0.04);
  EXPECT_NEAR(shares.main[1], 0.16, 0.04);
  EXPECT_NEAR(shares.main[2] + shares.main[3], 0.0, 0.01);
  ASSERT_EQ(model.terms().size(), 5u);
  EXPECT_EQ(model.terms()[4], (EffectTerm{0, 1}));
  EXPECT_NEAR(shares.terms[4], 0.20, 0.04);
  EXPECT_NEAR(shares.total[0], 0.84, 0.05);
  EXPECT_NEAR(model.ridge().noise(), 0.09, 0.02);
}

TEST(LevelEffects, WithoutNoiseEveryPointOfTheGridGivesExactShares) {
  const Space space = LevelSpace(2, 7);
  Trials grid;
  for (double a = 0; a < 7; ++a) {
    for (double b = 0; b < 7; ++b) {
      grid.points.push_back({a, b});
      grid.targets.push_back(2.0 * Linear(a) + Top(b));
    }
  }
  const LevelEffects model = ModelOf(space, grid.points, grid.targets);
  const EffectShares shares = SharesOf(model);
  EXPECT_NEAR(shares.main[0], 0.8, 1e-6);
  EXPECT_NEAR(shares.main[1], 0.2, 1e-6);
  EXPECT_NEAR(shares.variance, 5.0, 1e-5);
  EXPECT_GT(model.ridge().LeftOutR2(), 0.999);
  const std::vector<double> curve = model.Curve(0);
  for (std::size_t level = 0; level < 7; ++level) {
    EXPECT_NEAR(curve[level], 2.0 * Linear(static_cast<double>(level)), 1e-4);
  }
}

TEST(LevelEffects, OtherNamesForChoicesChangeNothing) {
  const Categorical seven{{"0", "1", "2", "3", "4", "5", "6"}};
  const Space space(
      {{"a", seven, {}}, {"b", seven, {}}, {"c", seven, {}}, {"d", seven, {}}},
      {}, std::nullopt);
  const Trials trials = Draw(space, 200, 0.3, Paired);
  std::vector<Point> renamed = trials.points;
  for (Point& point : renamed) {
    for (double& choice : point) choice = std::fmod(3.0 * choice + 2.0, 7.0);
  }
  const EffectShares shares =
      SharesOf(ModelOf(space, trials.points, trials.targets));
  const EffectShares same = SharesOf(ModelOf(space, renamed, trials.targets));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(same.main[i], shares.main[i], 1e-9);
    EXPECT_NEAR(same.total[i], shares.total[i], 1e-9);
  }
}

// A graded effect has fewer degrees of freedom than one of unrelated levels.
TEST(LevelEffects, TheOrderOfLevelsHelpsWhereEffectsAreGraded) {
  if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  const Space space = LevelSpace(4, 7);
  double graded = 0.0;
  double shuffled = 0.0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Trials trials =
        Draw(space, 60, 1.0, [](const Point& p) { return Linear(p[0]); }, seed);
    std::vector<Point> renamed = trials.points;
    for (Point& p : renamed) {
      for (double& level : p) level = std::fmod(3.0 * level + 2.0, 7.0);
    }
    const auto missed = [&](const std::vector<Point>& points, bool renames) {
      const LevelEffects model = ModelOf(space, points, trials.targets);
      const std::vector<double> curve = model.Curve(0);
      double squares = 0.0;
      for (int level = 0; level < 7; ++level) {
        const int name = renames ? (3 * level + 2) % 7 : level;
        squares += std::pow(
            curve[static_cast<std::size_t>(name)] - Linear(level), 2.0);
      }
      return squares;
    };
    graded += missed(trials.points, false);
    shuffled += missed(renamed, true);
  }
  EXPECT_LT(graded, 0.8 * shuffled);
}

TEST(LevelEffects, TriplesAreFoundAndKeptApart) {
  const Space space = LevelSpace(3, 4);
  const auto sign = [](double level) { return level < 2.0 ? -1.0 : 1.0; };
  const Trials trials = Draw(space, 400, 0.2, [&](const Point& p) {
    return sign(p[0]) + sign(p[0]) * sign(p[1]) * sign(p[2]);
  });
  const LevelEffects model = ModelOf(space, trials.points, trials.targets);
  const EffectShares shares = SharesOf(model);
  const auto found = std::find(model.terms().begin(), model.terms().end(),
                               EffectTerm{0, 1, 2});
  ASSERT_NE(found, model.terms().end());
  const auto at = static_cast<std::size_t>(found - model.terms().begin());
  EXPECT_NEAR(shares.terms[at], 0.5, 0.05);
  EXPECT_NEAR(shares.total[1], 0.5, 0.05);
  EXPECT_NEAR(shares.main[0], 0.5, 0.05);
}

// Level 4 is never tried: it is guessed from its neighbours where the others
// are graded, but nobody knows.
TEST(LevelEffects, ALevelNeverTriedIsGuessedAndMakesTheSharesUnsure) {
  const Space space = LevelSpace(2, 5);
  Trials all, some;
  for (int i = 0; i < 80; ++i) {
    const double level = i % 5;
    const Point point = {level, static_cast<double>(i / 5 % 5)};
    all.points.push_back(point);
    all.targets.push_back(level + point[1]);
    if (level == 4.0) continue;
    some.points.push_back(point);
    some.targets.push_back(all.targets.back());
  }
  const auto spread = [&space](const Trials& trials) {
    const LevelEffects model = ModelOf(space, trials.points, trials.targets);
    std::vector<double> drawn;
    for (const EffectShares& one :
         DrawShares(model, model.ridge().LeftOutR2(), 200, 1)) {
      drawn.push_back(one.main[0]);
    }
    std::sort(drawn.begin(), drawn.end());
    return drawn[194] - drawn[5];
  };
  const LevelEffects model = ModelOf(space, some.points, some.targets);
  EXPECT_GT(model.Curve(0)[4], 0.0);
  EXPECT_LT(model.Curve(0)[4], 3.0);
  EXPECT_LT(spread(all), 0.05);
  EXPECT_GT(spread(some), 4.0 * spread(all) + 0.02);
}

TEST(LevelEffects, OneTrialOrAConstantTargetExplainsNothing) {
  const Space space = LevelSpace(3, 7);
  const std::vector<Point> one = {{1, 2, 3}};
  EXPECT_EQ(SharesOf(ModelOf(space, one, {5.0})).variance, 0.0);
  const Trials flat = Draw(space, 50, 0.0, [](const Point&) { return 2.0; });
  const LevelEffects model = ModelOf(space, flat.points, flat.targets);
  EXPECT_EQ(SharesOf(model).main, std::vector<double>(3, 0.0));
  EXPECT_TRUE(std::isnan(model.ridge().LeftOutR2()));
  for (const EffectShares& draw : DrawShares(model, 0.0, 5, 1)) {
    EXPECT_EQ(draw.variance, 0.0);
  }
}

TEST(LevelEffects, NoiseAloneIsNotPredictedAndHasNoStrongEffect) {
  const Space space = LevelSpace(5, 7);
  const Trials trials = Draw(space, 300, 1.0, [](const Point&) { return 0.0; });
  const LevelEffects model = ModelOf(space, trials.points, trials.targets);
  EXPECT_LT(model.ridge().LeftOutR2(), 0.05);
  EXPECT_LT(SharesOf(model).variance, 0.1);
  for (std::size_t t = 0; t < 5; ++t) {
    EXPECT_GT(LogChanceOf(model, t), std::log(0.001));
  }
}

TEST(LevelEffects, DrawsAreTheSameForTheSameSeedAndHoldTheTruth) {
  const Space space = LevelSpace(4, 7);
  const Trials trials = Draw(space, 200, 0.3, Paired);
  const LevelEffects model = ModelOf(space, trials.points, trials.targets);
  const auto mains = [&model](std::uint64_t seed) {
    std::vector<double> drawn;
    for (const EffectShares& one :
         DrawShares(model, model.ridge().LeftOutR2(), 200, seed)) {
      drawn.push_back(one.main[0]);
    }
    return drawn;
  };
  std::vector<double> drawn = mains(7);
  EXPECT_EQ(drawn, mains(7));
  EXPECT_NE(drawn, mains(8));
  std::sort(drawn.begin(), drawn.end());
  EXPECT_LT(drawn[5], 0.64);
  EXPECT_GT(drawn[194], 0.64);
  EXPECT_LT(drawn[194] - drawn[5], 0.3);
}

// A rate with frozen, a choice, and a parameter that only one choice has.
Space MixedSpace() {
  return Space({{"rate", LogUniform{1e-9, 1e-3, true}, {}},
                {"kind", Categorical{{"\"a\"", "\"b\""}}, {}},
                {"depth", IntRange{1, 4, 1, false},
                 Condition{.parent = 1, .values = {1.0}}}},
               {}, std::nullopt);
}

TEST(LevelEffects, CellsHaveTheMeasureOfTheSpaceAndFunctionsAreOrthonormal) {
  const Space space = MixedSpace();
  const Trials trials = Draw(space, 40, 0.0, [](const Point&) { return 0.0; });
  const std::vector<MeasuredAxis> measured = MeasureSpace(space);
  const std::vector<double> first_masses = {kFrozenMass, 0.5, 0.5};
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> codes;
    for (const Point& p : trials.points)
      codes.push_back(measured[i].CodeOf(p[i]));
    const EffectAxis axis = MakeEffectAxis(measured[i], codes);
    double whole = 0.0;
    for (const double mass : axis.masses) whole += mass;
    EXPECT_NEAR(whole, 1.0, 1e-12);
    EXPECT_NEAR(axis.masses[0], first_masses[i], 1e-12);
    for (std::size_t f = 0; f < axis.functions; ++f) {
      for (std::size_t g = 0; g <= f; ++g) {
        double product = 0.0;
        double mean = 0.0;
        for (std::size_t c = 0; c < axis.cells(); ++c) {
          const double value = axis.basis[c * axis.functions + f];
          mean += axis.masses[c] * value;
          product +=
              axis.masses[c] * value * axis.basis[c * axis.functions + g];
        }
        EXPECT_NEAR(mean, 0.0, 1e-9);
        EXPECT_NEAR(product, f == g ? axis.prior[f] : 0.0, 1e-9);
      }
    }
  }
}

TEST(LevelEffects, AnAbsentParameterHasACellOfItsOwn) {
  const Space space = MixedSpace();
  const Trials trials = Draw(space, 400, 0.1, [](const Point& p) {
    return IsAbsent(p[2]) ? 0.0 : p[2];
  });
  const LevelEffects model = ModelOf(space, trials.points, trials.targets);
  // Nothing of "rate"; "kind" and "depth" share what being absent means.
  const EffectShares shares = SharesOf(model);
  EXPECT_LT(shares.total[0], 0.01);
  EXPECT_GT(shares.main[2], 0.3);
  const std::vector<double> curve = model.Curve(2);
  EXPECT_NEAR(curve[4] - curve[1], 3.0, 0.2);
}

TEST(LevelEffects, FrozenIsToldFromAllRates) {
  const Space space = MixedSpace();
  const Trials trials = Draw(
      space, 200, 0.1, [](const Point& p) { return p[0] == 0.0 ? 2.5 : 0.0; });
  const LevelEffects model = ModelOf(space, trials.points, trials.targets);
  EXPECT_GT(SharesOf(model).main[0], 0.97);
  // 2.5 · 2.5 · .2 · .8
  EXPECT_NEAR(model.Variance(0), 1.0, 0.15);
}

TEST(LevelEffects, ManyParametersStayWithinTheColumnsThatAreAffordable) {
  const Space space = LevelSpace(120, 7);
  const Trials trials = Draw(
      space, 150, 0.3, [](const Point& p) { return 2.0 * Linear(p[100]); });
  const LevelEffects model = ModelOf(space, trials.points, trials.targets);
  EXPECT_LE(model.ridge().columns(), 512u);
  const EffectShares shares = SharesOf(model);
  EXPECT_EQ(std::max_element(shares.main.begin(), shares.main.end()) -
                shares.main.begin(),
            100);
}

TEST(LevelEffects, TheReportHasIntervalsPairsAndDirections) {
  const Space space = LevelSpace(4, 7);
  const History history = UniformTrials(
      space, 300,
      [](const Point& p, Rng& rng) { return Paired(p) + 0.3 * rng.Normal(); });
  EvaluateOptions options;
  options.evaluator = "levels";
  ASSERT_OK_AND_ASSIGN(
      const Report report,
      Evaluate(space, {{"loss", Direction::kMinimize}}, history, options));
  const ParameterImportance& first = report.parameters[0];
  EXPECT_LT(first.main.lo95, first.main.lo80);
  EXPECT_LT(first.main.lo80, first.main.value);
  EXPECT_LT(first.main.hi80, first.main.hi95);
  EXPECT_EQ(first.rank, 1);
  EXPECT_LT(first.direction, -0.9);  // a higher level, a higher loss
  EXPECT_TRUE(report.parameters[1].distinguishable);
  EXPECT_FALSE(report.parameters[3].distinguishable);
  ASSERT_EQ(report.pairs.size(), 6u);
  EXPECT_EQ(report.pairs[0].first + 10 * report.pairs[0].second, 10);
  EXPECT_EQ(report.pairs[1].share.value, 0.0);
  EXPECT_GT(report.pairs[1].share.hi95, 0.0);
  EXPECT_LT(report.pairs[1].share.hi95, 0.05);
  double sum = report.unexplained.value;
  for (const auto& one : report.parameters) sum += one.main.value;
  for (const auto& pair : report.pairs) sum += pair.share.value;
  EXPECT_NEAR(sum, 1.0, 1e-9);
}

}  // namespace
}  // namespace frostline::importance
