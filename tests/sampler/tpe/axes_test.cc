// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include "gmock/gmock.h"
#include "sampler/tpe/kernel_axis.h"
#include "sampler/tpe/numeric_axis.h"

namespace frostline {
namespace {

std::vector<double> Widths(const Domain& domain,
                           const std::vector<double>& observed) {
  std::vector<double> widths;
  for (const auto& kernel : FitKernels(*NumericRangeOf(domain), observed)) {
    widths.push_back(kernel.sigma);
  }
  return widths;
}

std::vector<double> Densities(const Domain& domain,
                              const std::vector<double>& observed,
                              double value) {
  std::vector<double> sums(observed.size() + 1, 0.0);
  FitAxis(domain, observed, 0.2)->AddLogDensity(value, sums);
  for (double& sum : sums) sum = std::exp(sum);
  return sums;
}

TEST(FitKernels, ReachToTheFartherNeighbour) {
  const FloatRange range{-1.0, 1.0, 0.0, false};
  using testing::DoubleEq;
  using testing::ElementsAre;
  EXPECT_THAT(Widths(range, {0.4}), ElementsAre(DoubleEq(1.4), 2.0));
  EXPECT_THAT(Widths(range, {-0.3, 0.3}),
              ElementsAre(DoubleEq(0.6), DoubleEq(0.6), 2.0));
  // Neither 0.01 nor 0.02 is wide enough: not below a share of the range.
  const double least = 2.0 / 6.0;
  EXPECT_THAT(Widths(range, {0.4, 0.42, -0.4, 0.41}),
              ElementsAre(DoubleEq(0.8), DoubleEq(least), DoubleEq(0.8),
                          DoubleEq(least), 2.0));
}

TEST(FitKernels, StepsAndLogarithmsWidenTheBox) {
  EXPECT_DOUBLE_EQ(Widths(FloatRange{1, 100, 3, false}, {1.0})[0], 100.5);
  EXPECT_DOUBLE_EQ(Widths(IntRange{1, 100, 1, false}, {1.0})[0], 99.5);
  const auto prior = FitKernels(*NumericRangeOf(IntRange{1, 100, 1, true}), {});
  EXPECT_DOUBLE_EQ(prior[0].mu, (std::log(0.5) + std::log(100.5)) / 2.0);
}

TEST(ChoiceAxis, AnObservedChoiceIsLikelierThanTheFloor) {
  const Categorical choices{{"1", "2", "3"}};
  using testing::DoubleEq;
  EXPECT_THAT(Densities(choices, {1.0}, 1.0),
              testing::ElementsAre(DoubleEq(0.6), DoubleEq(1.0 / 3.0)));
  EXPECT_THAT(Densities(choices, {1.0}, 2.0),
              testing::ElementsAre(DoubleEq(0.2), DoubleEq(1.0 / 3.0)));
}

// For every kernel of every countable domain.
TEST(KernelAxis, ProbabilitiesOfAllValuesSumToOne) {
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

// Frozen is an atom; the rest integrates over the logarithm of the rate.
TEST(FreezeAxis, TheAtomAndTheLineTogetherHaveMassOne) {
  const LogUniform rate{1e-6, 1e-2, true};
  const std::vector<double> observed = {0.0, 1e-4, 0.0, 3e-3};
  const double width = std::log(1e4) / 4000.0;
  auto sums = Densities(rate, observed, 0.0);
  EXPECT_GT(sums[0], 0.8);   // seen frozen
  EXPECT_LT(sums[1], 0.05);  // seen training
  EXPECT_DOUBLE_EQ(sums.back(), 0.2);
  for (int i = 0; i < 4000; ++i) {
    const double value = 1e-6 * std::exp((i + 0.5) * width);
    const auto densities = Densities(rate, observed, value);
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] += densities[k] * width;
  }
  for (const double sum : sums) EXPECT_NEAR(sum, 1.0, 1e-5);
}

TEST(KernelAxis, DrawsFollowTheDensity) {
  const Levels levels{{0, 1e-6, 1e-5, 1e-4, 1e-3}};
  const auto axis = FitAxis(levels, {4.0, 4.0, 0.0}, 0.2);
  Rng rng(5);
  std::vector<double> counts(5, 0.0);
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    ++counts[static_cast<std::size_t>(axis->Draw(0, rng))];
  }
  for (std::size_t value = 0; value < 5; ++value) {
    std::vector<double> sums(4, 0.0);
    axis->AddLogDensity(static_cast<double>(value), sums);
    const double p = std::exp(sums[0]);
    EXPECT_NEAR(counts[value], kDraws * p,
                5.0 * std::sqrt(kDraws * p * (1.0 - p)) + 1.0);
  }
}

}  // namespace
}  // namespace frostline
