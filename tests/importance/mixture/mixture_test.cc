// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/mixture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "importance/evaluator.h"
#include "importance/forest/forest.h"
#include "importance/measure/dataset.h"
#include "importance/mixture/mixture_model.h"
#include "importance/mixture/subsets.h"
#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"
#include "tests/support/watched.h"

namespace frostline::importance {
namespace {

// A data set with what level effects and trees make of its axes.
struct Case {
  Dataset data;
  std::vector<EffectAxis> effect_axes;
  std::vector<FineAxis> axes;
};

Case CaseOf(const Space& space, const History& history) {
  std::vector<const Point*> points;
  std::vector<double> losses;
  for (const Observation& trial : history.trials()) {
    points.push_back(&trial.point);
    losses.push_back(trial.values[0]);
  }
  Case made{MakeDataset(MeasureSpace(space), points, losses), {}, {}};
  for (std::size_t i = 0; i < made.data.axes.size(); ++i) {
    auto both = MakeFineAxis(made.data.axes[i], made.data.codes[i]);
    made.effect_axes.push_back(std::move(both.effect));
    made.axes.push_back(std::move(both.fine));
  }
  return made;
}

Space MixtureSpace() {
  return Space({{"rate", Levels{{0, 1e-5, 1e-4, 1e-3}}, {}},
                {"kind", Categorical{{"\"a\"", "\"b\"", "\"c\""}}, {}},
                {"depth", IntRange{1, 4, 1, false},
                 Condition{.parent = 1, .values = {1.0}}}},
               {}, std::nullopt);
}

double MixtureOf(const Point& p, Rng& rng) {
  const double depth = IsAbsent(p[2]) ? 0.0 : p[2];
  return (p[0] > 1 ? depth : 1.0) + (p[1] == 2 ? p[0] : 0.0) +
         0.1 * rng.Normal();
}

// Walks every point of the fine axes.
template <typename Visit>
void ForEachPoint(const std::vector<FineAxis>& axes, const Visit& visit) {
  FinePoint point(axes.size(), 0);
  for (std::size_t i = 0; i < axes.size();) {
    double mass = 1.0;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      mass *= axes[k].masses[point[k]];
    }
    visit(point, mass);
    for (i = 0; i < axes.size(); ++i) {
      if (++point[i] < axes[i].size()) break;
      point[i] = 0;
    }
  }
}

TEST(TreeEffects, AreThoseOfTheMeanOfTheTreesByEnumeration) {
  const Space space = MixtureSpace();
  const Case made = CaseOf(space, UniformTrials(space, 80, MixtureOf));
  const auto& axes = made.axes;
  const Forest forest = FitForest(made.data, made.data.targets,
                                  RowWeights(made.data.rows(), 1), 5, 1, 0);
  const TreeEffects effects =
      FindTreeEffects(axes, forest.trees, {{0, 1}, {0, 2}});
  double mean = 0.0;
  std::vector<double> first(axes[0].size(), 0.0);
  std::vector<double> both(axes[0].size() * axes[2].size(), 0.0);
  std::vector<double> third(axes[2].size(), 0.0);
  ForEachPoint(axes, [&](const FinePoint& p, double mass) {
    const double value = mass * PredictAt(axes, forest.trees, p);
    mean += value;
    first[p[0]] += value / axes[0].masses[p[0]];
    third[p[2]] += value / axes[2].masses[p[2]];
    both[p[0] * axes[2].size() + p[2]] +=
        value / axes[0].masses[p[0]] / axes[2].masses[p[2]];
  });
  EXPECT_NEAR(effects.mean, mean, 1e-12);
  ASSERT_EQ(effects.pairs.count({0, 2}), 1u);
  for (std::size_t a = 0; a < first.size(); ++a) {
    EXPECT_NEAR(effects.main[0][a], first[a] - mean, 1e-12);
    for (std::size_t c = 0; c < third.size(); ++c) {
      const std::size_t at = a * third.size() + c;
      EXPECT_NEAR(effects.pairs.at({0, 2})[at],
                  both[at] - first[a] - third[c] + mean, 1e-12);
    }
  }
}

TreeNode MixtureLeaf(double value) {
  TreeNode node;
  node.value = value;
  return node;
}

TreeNode MixtureSplit(int axis, double threshold, int left) {
  TreeNode node;
  node.axis = axis;
  node.threshold = threshold;
  node.left = left;
  node.right = left + 1;
  return node;
}

// A split of the first axis, and below its larger side one of the third.
TEST(SplitPairs, GainsAreTheVarianceThatSplitsTakeAway) {
  const Space space = LevelSpace(3, 4);
  const Case made =
      CaseOf(space, UniformTrials(space, 60, [](const Point& p, Rng&) {
               return p[0] < 1 ? 0.0 : (p[2] < 2 ? 1.0 : 3.0);
             }));
  Tree tree;
  tree.nodes = {MixtureSplit(0, 0.0, 1), MixtureLeaf(0.0),
                MixtureSplit(2, 1.0, 3), MixtureLeaf(1.0), MixtureLeaf(3.0)};
  const std::vector<double> gains =
      FindSplitGains(made.axes, std::vector<Tree>{tree, tree});
  // A quarter is 0, the rest 2 on the mean; of it one half is 1, the other 3.
  EXPECT_NEAR(gains[0], 2 * 0.25 * 0.75 * 4.0, 1e-12);
  EXPECT_EQ(gains[1], 0.0);
  EXPECT_NEAR(gains[2], 2 * 0.75 * 1.0, 1e-12);
}

TEST(SplitPairs, AreAmongTheAxesOfLargestGainAndThoseAskedFor) {
  std::vector<double> gains(kMaxForestPairAxes + 10);
  for (std::size_t i = 0; i < gains.size(); ++i) {
    gains[i] = static_cast<double>(i);
  }
  const std::vector<AxisPair> pairs = ChoosePairs(gains, {{3, 20}, {11, 30}});
  EXPECT_EQ(pairs.size(), kMaxForestPairAxes * (kMaxForestPairAxes - 1) / 2 + 1)
      << "one of the two is among them anyway";
  EXPECT_EQ(pairs[0], AxisPair(3, 20));
  EXPECT_EQ(pairs[1], AxisPair(10, 11));
  EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
}

TEST(FineAxis, PartsHaveTheMeasureOfTheSpace) {
  const Space space({{"rate", LogUniform{1e-9, 1e-3, true}, {}},
                     {"k", IntRange{1, 300, 1, true}, {}},
                     {"c", Categorical{{"1", "2", "3"}}, {}}},
                    {}, std::nullopt);
  const Case made = CaseOf(
      space,
      UniformTrials(space, 40, [](const Point& p, Rng&) { return p[2]; }));
  for (std::size_t i = 0; i < 3; ++i) {
    const FineAxis& fine = made.axes[i];
    double whole = 0.0;
    std::vector<double> cells(made.effect_axes[i].cells(), 0.0);
    for (std::size_t k = 0; k < fine.size(); ++k) {
      whole += fine.masses[k];
      cells[fine.effect_cell[k]] += fine.masses[k];
    }
    EXPECT_NEAR(whole, 1.0, 1e-12);
    EXPECT_EQ(made.effect_axes[i].cell_of_row.size(), 40u);
    if (i == 1) continue;  // 96 parts of 300 values in 24 cells
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      EXPECT_NEAR(cells[cell], made.effect_axes[i].masses[cell], 1e-12);
    }
  }
}

double Additive(const Point& p, Rng& rng) {
  return p[0] + 0.5 * p[1] + (p[2] > 5 ? 2.0 : 0.0) + 0.7 * rng.Normal();
}

TEST(Mixture, AdditiveTargetsGetNoForest) {
  const Space space = LevelSpace(7, 7);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Case made = CaseOf(space, UniformTrials(space, 200, Additive, seed));
    const LevelEffects model(made.effect_axes, made.data.targets);
    const Mixture mixture = FitMixture(made.data, model, {64, seed, 1});
    EXPECT_EQ(mixture.forest_weight, 0.0) << seed;
    EXPECT_TRUE(mixture.trees.empty());
    EXPECT_EQ(mixture.r2, mixture.levels_r2);
  }
}

TEST(Mixture, MainEffectsPairsAndWhatIsLeftAreTheWhole) {
  const Space space = LevelSpace(4, 5);
  const Case made =
      CaseOf(space, UniformTrials(space, 300, [](const Point& p, Rng& rng) {
               const bool falls = p[0] > 1 && p[1] > 1 && p[2] > 1 && p[3] > 1;
               return (falls ? 2.0 : 0.0) + 0.1 * p[0] + 0.1 * rng.Normal();
             }));
  const LevelEffects model(made.effect_axes, made.data.targets);
  const Mixture mixture = FitMixture(made.data, model, {64, 1, 1});
  ASSERT_GT(mixture.forest_weight, 0.5);
  EXPECT_GT(mixture.r2, mixture.levels_r2);
  const MixtureModel shares(model, made.axes, mixture, {{0, 1}, {0, 1, 2, 3}},
                            1);
  std::vector<MixtureShares> all = shares.Draw(50, 1);
  all.push_back(shares.Shares());
  for (const MixtureShares& one : all) {
    double sum = one.unexplained;
    for (const double main : one.main) sum += main;
    for (const double pair : one.pairs) sum += pair;
    EXPECT_NEAR(sum, 1.0, 1e-9);
    EXPECT_GE(one.unexplained, 0.0);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_GE(one.total[i], one.main[i]);
    }
  }
  // All four parameters are everything; two are their effects and their pair.
  const MixtureShares found = all.back();
  EXPECT_NEAR(found.groups[1], 1.0, 0.05);
  EXPECT_NEAR(found.groups[0], found.main[0] + found.main[1] + found.pairs[0],
              0.03);
}

double MixtureCorner(const Point& p, Rng& rng) {
  const bool falls = p[0] > 1 && p[1] > 1 && p[2] > 1 && p[3] > 1;
  return (falls ? 2.0 : 0.0) + 0.1 * p[0] + 0.01 * rng.Normal();
}

// What the weighted sum of level effects and trees predicts, taken apart by
// visiting every point.
TEST(Mixture, SharesAreThoseOfWhatItPredicts) {
  const Space space = LevelSpace(4, 5);
  const Case made = CaseOf(space, UniformTrials(space, 600, MixtureCorner));
  const LevelEffects model(made.effect_axes, made.data.targets);
  Mixture mixture = FitMixture(made.data, model, {64, 1, 1});
  ASSERT_FALSE(mixture.trees.empty());
  mixture.forest_weight = 0.6;  // so that both have a part
  const auto predict = [&](const FinePoint& p) {
    double levels = 0.0;
    for (std::size_t t = 0; t < model.terms().size(); ++t) {
      std::size_t cell = 0;
      for (const std::size_t axis : model.terms()[t]) cell = cell * 5 + p[axis];
      levels += model.Table(t)[cell];
    }
    return (1.0 - mixture.forest_weight) * levels +
           mixture.forest_weight * PredictAt(made.axes, mixture.trees, p);
  };
  double mean = 0.0, square = 0.0;
  std::vector<double> first(5, 0.0), third(5, 0.0), both(25, 0.0);
  ForEachPoint(made.axes, [&](const FinePoint& p, double mass) {
    const double value = mass * predict(p);
    mean += value;
    square += value * value / mass;
    first[p[0]] += value * 5.0;
    third[p[2]] += value * 5.0;
    both[p[0] * 5 + p[2]] += value * 25.0;
  });
  double main = 0.0, pair = 0.0;
  for (std::size_t a = 0; a < 5; ++a) {
    main += (first[a] - mean) * (first[a] - mean) / 5.0;
    for (std::size_t c = 0; c < 5; ++c) {
      const double beyond = both[a * 5 + c] - first[a] - third[c] + mean;
      pair += beyond * beyond / 25.0;
    }
  }
  const MixtureModel found(model, made.axes, mixture, {}, 1);
  const MixtureShares shares = found.Shares();
  EXPECT_NEAR(main / (square - mean * mean), shares.main[0], 0.01);
  EXPECT_NEAR(pair / (square - mean * mean), shares.pairs[1], 0.002);
  EXPECT_NEAR(shares.variance, square - mean * mean, 0.05 * shares.variance);
}

// Var f less Var E[f | all but x_i], by visiting every point.
TEST(Mixture, TotalsAreThoseOfWhatItPredicts) {
  const Space space = LevelSpace(4, 5);
  const Case made = CaseOf(space, UniformTrials(space, 600, MixtureCorner));
  const LevelEffects model(made.effect_axes, made.data.targets);
  Mixture mixture = FitMixture(made.data, model, {64, 1, 1});
  ASSERT_FALSE(mixture.trees.empty());
  mixture.forest_weight = 1.0;
  double mean = 0.0, square = 0.0;
  std::vector<std::map<FinePoint, double>> without(4);
  ForEachPoint(made.axes, [&](const FinePoint& p, double mass) {
    const double value = mass * PredictAt(made.axes, mixture.trees, p);
    mean += value;
    square += value * value / mass;
    for (std::size_t i = 0; i < 4; ++i) {
      FinePoint others = p;
      others[i] = 0;
      without[i][others] += value;
    }
  });
  const MixtureModel found(model, made.axes, mixture, {}, 1);
  const MixtureShares shares = found.Shares();
  for (std::size_t i = 0; i < 4; ++i) {
    double total = square;
    for (const auto& [others, sum] : without[i]) total -= sum * sum * 125.0;
    EXPECT_NEAR(shares.total[i], total / (square - mean * mean), 0.02) << i;
  }
}

TEST(Mixture, WhatTheForestExplainsIsNoNoise) {
  const Space space = LevelSpace(4, 5);
  EvaluateOptions options;
  options.bootstraps = 0;
  const std::vector<Objective> loss = {{"loss", Direction::kMinimize}};
  ASSERT_OK_AND_ASSIGN(
      const Report report,
      Evaluate(space, loss, UniformTrials(space, 300, MixtureCorner), options));
  EXPECT_NEAR(report.noise_share, 1.0 - report.out_of_bag_r2, 0.02);
  EXPECT_LT(report.noise_share, 0.02);
}

// Something happens only where all six are above their lowest: level effects of
// pairs and triples miss most of it, and would call that noise.
TEST(Mixture, NoiseIsWhatIsLeftWhereTheForestCarries) {
  const Space space = LevelSpace(6, 4);
  EvaluateOptions options;
  options.bootstraps = 0;
  const std::vector<Objective> loss = {{"loss", Direction::kMinimize}};
  const double share = std::pow(0.75, 6);
  const double noise = 0.01 / (share * (1.0 - share) + 0.01);
  for (const auto& [trials, seed] : {std::pair(300, 1), std::pair(600, 2)}) {
    const History history = UniformTrials(
        space, trials,
        [](const Point& p, Rng& rng) {
          const double lowest = *std::min_element(p.begin(), p.end());
          return (lowest > 0.0 ? 1.0 : 0.0) + 0.1 * rng.Normal();
        },
        static_cast<std::uint64_t>(seed));
    ASSERT_OK_AND_ASSIGN(const Report report,
                         Evaluate(space, loss, history, options));
    // The Gaussian process knows of three at once, and has a part too.
    EXPECT_EQ(report.carried_by.back().first, "forest");
    EXPECT_GT(report.carried_by.back().second, 0.5);
    EXPECT_LT(report.carried_by[0].second + report.carried_by[1].second, 0.2);
    EXPECT_NEAR(report.noise_share, noise, 0.05);
  }
}

TEST(Mixture, IntervalsHoldTheTruthAsOftenAsTheySay) {
  if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  const Space space = LevelSpace(3, 5);
  const std::vector<double> truth = {16.0 / 21, 4.0 / 21, 1.0 / 21};
  const std::vector<Objective> loss = {{"loss", Direction::kMinimize}};
  double held = 0.0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const History history = UniformTrials(
        space, 100,
        [](const Point& p, Rng& rng) {
          return 4 * p[0] + 2 * p[1] + p[2] + 3 * rng.Normal();
        },
        seed);
    ASSERT_OK_AND_ASSIGN(const Report report,
                         Evaluate(space, loss, history, {}));
    for (std::size_t i = 0; i < 3; ++i) {
      const Interval& main = report.parameters[i].main;
      held += truth[i] >= main.lo80 && truth[i] <= main.hi80 ? 1.0 : 0.0;
    }
  }
  EXPECT_GT(held / 180.0, 0.68);
  EXPECT_LT(held / 180.0, 0.95);
}

// What a mixture has within a set of parameters, against visiting every point.

// What is predicted with everything but `known` averaged out, by visiting
// every point of the space.
using Means = std::map<std::vector<int>, double>;
Means MeansGiven(const std::vector<FineAxis>& axes,
                 const std::vector<std::size_t>& known,
                 const std::function<double(const FinePoint&)>& predict) {
  Means means;
  FinePoint point(axes.size(), 0);
  for (std::size_t i = 0; i < axes.size();) {
    std::vector<int> key(point.begin(), point.end());
    double mass = 1.0;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (std::find(known.begin(), known.end(), a) != known.end()) continue;
      key[a] = -1;
      mass *= axes[a].masses[point[a]];
    }
    means[key] += mass * predict(point);
    for (i = 0; i < axes.size(); ++i) {
      if (++point[i] < axes[i].size()) break;
      point[i] = 0;
    }
  }
  return means;
}

// A data set as level effects and trees see it.
struct SubsetCase {
  SubsetCase(const Space& space, const History& history) {
    std::vector<const Point*> points;
    std::vector<double> losses;
    for (const Observation& trial : history.trials()) {
      points.push_back(&trial.point);
      losses.push_back(trial.values[0]);
    }
    data = MakeDataset(MeasureSpace(space), points, losses);
    for (std::size_t i = 0; i < data.axes.size(); ++i) {
      auto both = MakeFineAxis(data.axes[i], data.codes[i]);
      effect_axes.push_back(std::move(both.effect));
      axes.push_back(std::move(both.fine));
    }
  }

  std::vector<Tree> Grow(int trees) const {
    return FitForest(data, data.targets, RowWeights(data.rows(), 1), trees, 1,
                     0)
        .trees;
  }

  Dataset data;
  std::vector<EffectAxis> effect_axes;
  std::vector<FineAxis> axes;
};

// Returns the shares of three of four levels, in variances.
SubsetVariance ByEnumeration(
    const std::vector<FineAxis>& axes,
    const std::function<double(const FinePoint&)>& predict) {
  std::vector<Means> means;
  for (unsigned part = 0; part < 8; ++part) {
    std::vector<std::size_t> known;
    for (std::size_t s = 0; s < 3; ++s) {
      if ((part >> s & 1u) != 0) known.push_back(s);
    }
    means.push_back(MeansGiven(axes, known, predict));
  }
  SubsetVariance found;
  for (const auto& [key, mean] : means[7]) {
    double effect = 0.0;
    for (unsigned part = 0; part < 8; ++part) {
      std::vector<int> of_part = key;
      for (std::size_t s = 0; s < 3; ++s) {
        if ((part >> s & 1u) == 0) of_part[s] = -1;
      }
      effect +=
          (std::popcount(part) % 2 == 1 ? 1.0 : -1.0) * means[part].at(of_part);
    }
    const double away = mean - means[0].begin()->second;
    double mass = 1.0;
    for (std::size_t s = 0; s < 3; ++s) {
      mass *= axes[s].masses[static_cast<std::size_t>(key[s])];
    }
    found.together += mass * away * away;
    found.beyond += mass * effect * effect;
  }
  return found;
}

// Level effects and trees added up are one function.
TEST(MixtureSubsets, AreThoseOfWhatTheMixturePredicts) {
  const Space space = LevelSpace(4, 5);
  const SubsetCase made(
      space, UniformTrials(space, 500, [](const Point& p, Rng& rng) {
        return p[0] + (p[1] - 2.0) * (p[2] > 2 ? p[0] : -1.0) +
               0.1 * rng.Normal();
      }));
  const LevelEffects model(made.effect_axes, made.data.targets);
  Mixture mixture;
  mixture.trees = made.Grow(8);
  mixture.forest_weight = 0.6;
  const auto predict = [&](const FinePoint& p) {
    double levels = 0.0;
    for (std::size_t t = 0; t < model.terms().size(); ++t) {
      std::size_t cell = 0;
      for (const std::size_t axis : model.terms()[t]) cell = cell * 5 + p[axis];
      levels += model.Table(t)[cell];
    }
    return 0.4 * levels + 0.6 * PredictAt(made.axes, mixture.trees, p);
  };
  const SubsetVariance truth = ByEnumeration(made.axes, predict);
  const MixtureModel found(model, made.axes, mixture, {}, 1, {{2, 0, 1}});
  const MixtureShares shares = found.Shares();
  EXPECT_NEAR(shares.subsets[0].together * shares.variance, truth.together,
              0.02 * truth.together);
  EXPECT_NEAR(shares.subsets[0].beyond * shares.variance, truth.beyond,
              0.05 * truth.beyond);
}

class SubsetRestTest : public testing::Test {
 protected:
  SubsetRestTest() {
    const Space space({{"rate", Levels{{0, 1e-5, 1e-4, 1e-3}}, {}},
                       {"kind", Categorical{{"a", "b", "c"}}, {}},
                       {"depth", IntRange{1, 3, 1, false},
                        Condition{.parent = 1, .values = {1.0}}},
                       {"other", Levels{{0, 1e-5, 1e-4}}, {}}},
                      {}, std::nullopt);
    const SubsetCase made(space,
                          UniformTrials(space, 200, [](const Point&, Rng& rng) {
                            return rng.Normal();
                          }));
    axes_ = made.axes;
    trees_ = made.Grow(3);
  }

  std::vector<FineAxis> axes_;
  std::vector<Tree> trees_;
};

TEST_F(SubsetRestTest, IsWhatEnumerationFinds) {
  const std::vector<std::size_t> subset = {0, 1, 2};
  Rng rng(1);
  const SubsetPoints points = MakeSubsetPoints(axes_, subset, rng);
  const SubsetRest found = FindSubsetRest(axes_, trees_, subset, points);
  const SubsetVariance truth = ByEnumeration(axes_, [this](const FinePoint& p) {
    return PredictAt(axes_, trees_, p);
  });
  double variance = 0.0;
  for (std::size_t n = 0; n < points.masses.size(); ++n) {
    EXPECT_NEAR(found.together[n], found.beyond[n], 1e-12);
    variance += points.masses[n] * found.beyond[n] * found.beyond[n];
  }
  EXPECT_NEAR(variance, truth.beyond, 1e-12);
  EXPECT_GT(variance, 1e-4);
}

// With four parameters, the rest beyond pairs is that of the four triples and
// of all four together.
TEST_F(SubsetRestTest, HoldsTheRestOfItsSubsets) {
  const std::vector<std::size_t> all = {0, 1, 2, 3};
  Rng rng(1);
  const SubsetPoints points = MakeSubsetPoints(axes_, all, rng);
  const SubsetRest found = FindSubsetRest(axes_, trees_, all, points);
  std::vector<double> sum = found.beyond;
  for (std::size_t left_out = 0; left_out < 4; ++left_out) {
    std::vector<std::size_t> triple;
    SubsetPoints same{{}, points.masses};
    for (const std::size_t s : all) {
      if (s == left_out) continue;
      triple.push_back(s);
      same.codes.push_back(points.codes[s]);
    }
    const SubsetRest part = FindSubsetRest(axes_, trees_, triple, same);
    for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += part.beyond[n];
  }
  double whole = 0.0;
  for (std::size_t n = 0; n < sum.size(); ++n) {
    EXPECT_NEAR(found.together[n], sum[n], 1e-12);
    whole += points.masses[n];
  }
  EXPECT_NEAR(whole, 1.0, 1e-12);
}

// So many combinations are not visited but drawn; where the effects are is the
// same.
TEST_F(SubsetRestTest, DrawsPointsOfLargeSets) {
  const std::vector<FineAxis> many(8, axes_[0]);
  Rng rng(1);
  const SubsetPoints points =
      MakeSubsetPoints(many, {0, 1, 2, 3, 4, 5, 6, 7}, rng);
  ASSERT_EQ(points.masses.size(), kDrawnPoints);
  std::vector<double> share(many[0].size(), 0.0);
  for (std::size_t n = 0; n < kDrawnPoints; ++n) {
    share[points.codes[5][n]] += points.masses[n];
  }
  for (std::size_t k = 0; k < share.size(); ++k) {
    EXPECT_NEAR(share[k], many[0].masses[k], 0.05);
  }
}

}  // namespace
}  // namespace frostline::importance
