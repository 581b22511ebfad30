// SPDX-License-Identifier: Apache-2.0
//
// What holds for the densities of `compat` whatever Optuna recorded.
#include "sampler/optuna/compat_mixture.h"

#include <cmath>
#include <numeric>

#include "gmock/gmock.h"

namespace frostline::sampler {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

std::vector<double> Widths(const Domain& domain,
                           const std::vector<double>& observed) {
  std::vector<double> widths;
  for (const auto& kernel : FitCompatKernels(*NumericRangeOf(domain), observed,
                                             KernelWidth::kNeighbours, 1)) {
    widths.push_back(kernel.sigma);
  }
  return widths;
}

// Returns the density of every kernel at a value.
std::vector<double> Densities(const Domain& domain,
                              const std::vector<double>& observed,
                              double value) {
  std::vector<double> sums(observed.size() + 1, 0.0);
  if (const auto* choices = std::get_if<Categorical>(&domain)) {
    CompatChoices(choices->choices.size(), observed).AddLogDensity(value, sums);
  } else {
    const NumericRange range = *NumericRangeOf(domain);
    CompatCells(range,
                FitCompatKernels(range, observed, KernelWidth::kNeighbours, 1))
        .AddLogDensity(value, sums);
  }
  for (double& sum : sums) sum = std::exp(sum);
  return sums;
}

CompatMixture MixtureOf(const std::vector<const Domain*>& domains,
                        const Columns& observed) {
  return CompatMixture(domains, observed, CompatWeights(observed[0].size()),
                       KernelWidth::kNeighbours);
}

TEST(CompatKernels, ReachToTheFartherNeighbour) {
  const FloatRange range{-1.0, 1.0, 0.0, false};
  EXPECT_THAT(Widths(range, {0.4}), ElementsAre(DoubleEq(1.4), 2.0));
  EXPECT_THAT(Widths(range, {-0.3, 0.3}),
              ElementsAre(DoubleEq(0.6), DoubleEq(0.6), 2.0));
  // Neither 0.01 nor 0.02 is wide enough: not below a share of the range.
  const double least = 2.0 / 6.0;
  EXPECT_THAT(Widths(range, {0.4, 0.42, -0.4, 0.41}),
              ElementsAre(DoubleEq(0.8), DoubleEq(least), DoubleEq(0.8),
                          DoubleEq(least), 2.0));
}

TEST(CompatKernels, StepsAndLogarithmsWidenTheBox) {
  EXPECT_DOUBLE_EQ(Widths(FloatRange{1, 100, 3, false}, {1.0})[0], 100.5);
  EXPECT_DOUBLE_EQ(Widths(IntRange{1, 100, 1, false}, {1.0})[0], 99.5);
  const auto prior =
      FitCompatKernels(*NumericRangeOf(IntRange{1, 100, 1, true}), {},
                       KernelWidth::kNeighbours, 1);
  EXPECT_DOUBLE_EQ(prior[0].mu, (std::log(0.5) + std::log(100.5)) / 2.0);
}

TEST(CompatChoices, AnObservedChoiceIsLikelierThanTheFloor) {
  const Categorical choices{{"1", "2", "3"}};
  EXPECT_THAT(Densities(choices, {1.0}, 1.0),
              ElementsAre(DoubleEq(0.6), DoubleEq(1.0 / 3.0)));
  EXPECT_THAT(Densities(choices, {1.0}, 2.0),
              ElementsAre(DoubleEq(0.2), DoubleEq(1.0 / 3.0)));
}

// For every kernel of every countable domain.
TEST(CompatCells, ProbabilitiesOfAllValuesSumToOne) {
  for (const Domain& domain :
       {Domain(Levels{{0, 1e-6, 1e-5, 1e-4}}),
        Domain(IntRange{2, 20, 3, false}), Domain(IntRange{1, 30, 1, true}),
        Domain(FloatRange{0, 1, 0.2, false}),
        Domain(Categorical{{"1", "2", "3"}})}) {
    const std::vector<double> values = ListValues(domain);
    const std::vector<double> observed = {values[0], values[2], values[2]};
    std::vector<double> sums(4, 0.0);
    for (const double value : values) {
      const auto densities = Densities(domain, observed, value);
      for (std::size_t k = 0; k < 4; ++k) sums[k] += densities[k];
    }
    for (const double sum : sums) EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

TEST(CompatWeights, TheNewestTwentyFiveCountFully) {
  const Domain choice = Categorical{{"0", "1"}};
  const auto weights =
      MixtureOf({&choice}, {std::vector<double>(30, 1.0)}).weights();
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  EXPECT_NEAR(sum, 1.0, 1e-15);
  EXPECT_NEAR(weights[0] / weights[30], 1.0 / 30.0, 1e-15);
  EXPECT_NEAR(weights[4] / weights[30], 1.0, 1e-15);
  EXPECT_LT(weights[3], weights[4]);
  EXPECT_DOUBLE_EQ(weights[5], weights[30]);
}

TEST(CompatMixture, DrawsFollowTheDensity) {
  const Domain levels = Levels{{0, 1e-6, 1e-5, 1e-4, 1e-3}};
  CompatMixture mixture = MixtureOf({&levels}, {{4.0, 4.0, 0.0}});
  NumpyStream stream(5);
  std::vector<double> counts(5, 0.0);
  constexpr int kDraws = 20'000;
  const Columns drawn = mixture.Draw(kDraws, stream);
  for (const double value : drawn[0]) {
    ++counts[static_cast<std::size_t>(value)];
  }
  const auto densities = mixture.LogDensity({{0.0, 1.0, 2.0, 3.0, 4.0}});
  for (std::size_t value = 0; value < 5; ++value) {
    const double p = std::exp(densities[value]);
    EXPECT_NEAR(counts[value], kDraws * p,
                5.0 * std::sqrt(kDraws * p * (1.0 - p)) + 1.0);
  }
}

// Two parameters that were good together are drawn together.
TEST(CompatMixture, KernelsKeepParametersOfOneTrialTogether) {
  const Domain flag = Categorical{{"0", "1"}};
  Columns observed(2);
  for (int i = 0; i < 10; ++i) {
    observed[0].push_back(i % 2);
    observed[1].push_back(i % 2);
  }
  NumpyStream stream(1);
  const Columns drawn = MixtureOf({&flag, &flag}, observed).Draw(1000, stream);
  int together = 0;
  for (std::size_t c = 0; c < 1000; ++c) together += drawn[0][c] == drawn[1][c];
  EXPECT_GT(together, 700);  // alone they would agree in 500
}

TEST(CompatMixture, TheJointDensitySumsToOne) {
  const Domain levels = Levels{{0, 1e-5, 1e-4}};
  const Domain choice = Categorical{{"0", "1"}};
  CompatMixture mixture = MixtureOf({&levels, &choice}, {{0, 2, 2}, {1, 0, 0}});
  const Columns grid = {{0, 0, 1, 1, 2, 2}, {0, 1, 0, 1, 0, 1}};
  double sum = 0.0;
  for (const double density : mixture.LogDensity(grid))
    sum += std::exp(density);
  EXPECT_NEAR(sum, 1.0, 1e-12);
}

TEST(CompatMixture, WithoutTrialsThePriorIsLeft) {
  const Domain choice = Categorical{{"0", "1", "2", "3"}};
  CompatMixture mixture = MixtureOf({&choice}, {{}});
  EXPECT_NEAR(mixture.LogDensity({{2}})[0], std::log(0.25), 1e-15);
}

}  // namespace
}  // namespace frostline::sampler
