// SPDX-License-Identifier: Apache-2.0
//
// What a mixture has within a set of parameters, against visiting every point.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "importance/forest/forest.h"
#include "importance/measure/dataset.h"
#include "importance/mixture/mixture.h"
#include "importance/mixture/subsets.h"
#include "tests/importance/trials.h"

namespace frostline::importance {
namespace {

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
SubsetShare ByEnumeration(
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
  SubsetShare found;
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
  const SubsetShare truth = ByEnumeration(made.axes, predict);
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
  const SubsetShare truth = ByEnumeration(axes_, [this](const FinePoint& p) {
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
