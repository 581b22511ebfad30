// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gmock/gmock.h"
#include "sampler/draw/random.h"
#include "sampler/factory.h"
#include "sampler/optuna/compat_mixture.h"
#include "sampler/optuna/numpy.h"
#include "tests/sampler/odd_spaces.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;

// That runs equal Optuna's is shown by tests/parity (kind tpe_replay); here is
// what the recordings cannot show.

const std::vector<Objective> kTwoCompat = {{"loss", Direction::kMinimize},
                                           {"cost", Direction::kMinimize}};

CompatOptions Read(const Options& options,
                   const std::vector<Objective>& objectives) {
  const auto read = ReadCompatOptions({options, {}, objectives, {}});
  EXPECT_OK(read);
  return *read;
}

TEST(CompatOptions, DefaultsAreThoseOfTheVersion) {
  const CompatOptions v4 = Read({{"compat", "v4"}}, kLoss);
  EXPECT_FALSE(v4.multivariate);
  EXPECT_FALSE(v4.constant_liar);
  const CompatOptions v5 = Read({{"compat", "v5"}}, kLoss);
  EXPECT_TRUE(v5.multivariate);
  EXPECT_TRUE(v5.constant_liar);
  EXPECT_FALSE(Read({{"compat", "v5"}}, kTwoCompat).multivariate);
  EXPECT_TRUE(
      Read({{"compat", "v5"}, {"group", "true"}}, kTwoCompat).multivariate);
}

TEST(CompatOptions, MistakesAreRefused) {
  const auto refused = [](const Options& options) {
    return MakeSampler({"tpe", options}, Space(), kLoss);
  };
  const auto invalid = FailsWith(ErrorId::kSamplerInvalid);
  EXPECT_THAT(refused({{"compat", "v6"}}), invalid);
  EXPECT_THAT(refused({{"compat", "v4"}, {"group", "true"}}), invalid);
  EXPECT_THAT(refused({{"compat", "v5"}, {"frozen_share", "0.1"}}), invalid);
  EXPECT_THAT(refused({{"compat", "v5"}, {"levels", "ordinal"}}), invalid);
}

const std::vector<Options> kModes = {
    {{"compat", "v5"}},
    {{"compat", "v5"}, {"group", "true"}, {"levels", "int"}},
    {{"compat", "v4"}, {"startup_trials", "0"}, {"constant_liar", "true"}},
    {{"compat", "v4"}, {"multivariate", "true"}, {"candidates", "3"}}};

// Spaces and histories as no careful person would make them. What was
// remembered from a shorter history changes nothing.
TEST(CompatTpe, ProposesPointsOfTheSpaceWhateverTheHistory) {
  for (std::uint64_t seed = 0; seed < 160; ++seed) {
    SCOPED_TRACE(seed);
    Rng dice(seed);
    const Space space = OddSpace(dice, false);
    const std::vector<Objective> objectives = OddObjectives(dice);
    const SamplerSpec spec = {"tpe", kModes[seed % kModes.size()]};
    ASSERT_OK_AND_ASSIGN(auto old, MakeSampler(spec, space, objectives));
    const History whole = OddHistory(space, objectives.size(), 50, dice);
    History history;
    for (const std::uint32_t i : whole.changes()) {
      history.Put(whole.trials()[i]);
      if (history.size() % 10 != 0) continue;
      ASSERT_OK_AND_ASSIGN(auto fresh, MakeSampler(spec, space, objectives));
      Rng one(seed, 99), two = one;
      ASSERT_OK_AND_ASSIGN(const Point point, fresh->Propose(history, 99, one));
      EXPECT_OK(space.Check(point));
      EXPECT_TRUE(SamePoint(point, *old->Propose(history, 99, two)));
    }
  }
}

// Optuna knows no trial that cannot be trained: it failed.
TEST(CompatTpe, FailedAndInfeasibleTrialsAreLikeUnseen) {
  const Space space({{"x", FloatRange{0.0, 1.0, 0.0, false}, {}}}, {},
                    std::nullopt);
  ASSERT_OK_AND_ASSIGN(auto sampler,
                       MakeSampler({"tpe", {{"compat", "v5"}}}, space, kLoss));
  History history;
  const auto put = [&history](TrialState state) {
    Observation trial;
    trial.number = static_cast<std::int64_t>(history.size());
    trial.state = state;
    trial.point = {0.01 * static_cast<double>(trial.number)};
    if (state == TrialState::kSucceeded) trial.values = {trial.point[0]};
    history.Put(std::move(trial));
  };
  const auto propose = [&] {
    Rng rng(5, 99);
    return (*sampler->Propose(history, 99, rng))[0];
  };
  for (int i = 0; i < 12; ++i) put(TrialState::kSucceeded);
  const double before = propose();
  put(TrialState::kFailed);
  put(TrialState::kInfeasible);
  put(TrialState::kCancelled);
  EXPECT_EQ(propose(), before);
  put(TrialState::kRunning);
  EXPECT_NE(propose(), before);
}

// Trials of one parameter, whose value is the trial's number.
class Numbered {
 public:
  void Put(TrialState state, std::vector<double> values,
           std::vector<double> constraints = {}) {
    Observation trial;
    trial.number = static_cast<std::int64_t>(history_.size());
    trial.state = state;
    trial.point = {static_cast<double>(trial.number)};
    trial.values = std::move(values);
    trial.constraints = std::move(constraints);
    history_.Put(std::move(trial));
  }

  // The numbers of the good trials and of the rest.
  std::pair<std::vector<double>, std::vector<double>> Look(
      OptunaVersion version, const std::vector<Objective>& objectives,
      std::int64_t own = -1) const {
    const CompatSpace space(
        Space({{"x", IntRange{0, 1000, 1, false}, {}}}, {}, std::nullopt),
        false);
    CompatTrials trials(space, objectives);
    trials.CatchUp(history_);
    const CompatView view = trials.Look(history_, own, true, version);
    std::pair<std::vector<double>, std::vector<double>> numbers;
    for (const CompatRow* row : view.below) numbers.first.push_back((*row)[0]);
    for (const CompatRow* row : view.above) numbers.second.push_back((*row)[0]);
    return numbers;
  }

 private:
  History history_;
};

TEST(CompatTrials, ATrialSeesOthersThatRunButNotItself) {
  Numbered trials;
  trials.Put(TrialState::kSucceeded, {1.0});
  trials.Put(TrialState::kRunning, {});
  trials.Put(TrialState::kRunning, {});
  EXPECT_THAT(trials.Look(OptunaVersion::kV5, kLoss, 2).second,
              ElementsAre(1.0));
}

TEST(CompatTrials, WithoutItsConstraintsATrialIsLastInVersion4Alone) {
  Numbered trials;
  trials.Put(TrialState::kSucceeded, {1.0});
  trials.Put(TrialState::kSucceeded, {2.0});
  EXPECT_THAT(trials.Look(OptunaVersion::kV4, kLoss).first, ElementsAre(0.0));
  trials.Put(TrialState::kSucceeded, {3.0}, {0.5});
  EXPECT_THAT(trials.Look(OptunaVersion::kV4, kLoss).first, ElementsAre(2.0));
  EXPECT_THAT(trials.Look(OptunaVersion::kV5, kLoss).first, ElementsAre(0.0));
}

TEST(CompatTrials, Version4HasNoMoreThan25GoodTrials) {
  Numbered trials;
  for (int i = 0; i < 300; ++i) {
    trials.Put(TrialState::kSucceeded, {1.0 * i, 1.0 * i});
  }
  EXPECT_EQ(trials.Look(OptunaVersion::kV4, kTwoCompat).first.size(), 25u);
  EXPECT_EQ(trials.Look(OptunaVersion::kV5, kTwoCompat).first.size(), 30u);
}

const std::vector<Parameter> kTree = {
    {"kind", Categorical{{"0", "1"}}, {}},
    {"b", FloatRange{0.0, 1.0, 0.0, false}, Condition{0, {0.0}, 0.0, 0.0}},
    {"only", IntRange{5, 5, 1, false}, {}},
    {"a", FloatRange{0.0, 1.0, 0.0, false}, Condition{0, {1.0}, 0.0, 0.0}},
    {"always", FloatRange{0.0, 1.0, 0.0, false}, {}}};

TEST(CompatBlocks, FollowWhatTrialsHaveInCommon) {
  const CompatSpace space(Space(kTree, {}, std::nullopt), false);
  const CompatRow left = {0.0, 0.5, 5.0, kAbsent, 0.1};
  const CompatRow right = {1.0, kAbsent, 5.0, 0.5, 0.1};
  EXPECT_TRUE(CommonBlock(space, {}).empty());
  // By name: b 1, always 4, kind 0; only has one value.
  EXPECT_THAT(CommonBlock(space, {&left}), ElementsAre(ElementsAre(4, 1, 0)));
  EXPECT_THAT(CommonBlock(space, {&left, &right}),
              ElementsAre(ElementsAre(4, 0)));
  EXPECT_THAT(GroupedBlocks(space, {&left, &right}),
              ElementsAre(ElementsAre(4, 0), ElementsAre(1), ElementsAre(3)));
}

TEST(CompatSpace, ARateThatCanFreezeIsTwoParameters) {
  const CompatSpace space(
      Space({{"rate", LogUniform{1e-6, 1e-2, true}, {}}}, {}, std::nullopt),
      false);
  ASSERT_EQ(space.parameters().size(), 2u);
  EXPECT_EQ(space.parameters()[0].name, "rate.frozen");
  EXPECT_THAT(space.RowOf({1e-3}), ElementsAre(0.0, 1e-3));
  const CompatRow frozen = space.RowOf({0.0});
  EXPECT_EQ(frozen[0], 1.0);
  EXPECT_TRUE(IsAbsent(frozen[1]));
  Point point = {kAbsent};
  EXPECT_FALSE(space.IsAsked(1, point, frozen));
  space.Write(0, 1.0, point);
  EXPECT_EQ(point[0], 0.0);
}

TEST(CompatKernels, InVersion4AllWhoAreDrawnTogetherAreEquallyWide) {
  const NumericRange range = *NumericRangeOf(FloatRange{0, 10, 0, false});
  const auto kernels =
      FitCompatKernels(range, {1.0, 2.0, 9.0}, KernelWidth::kShared, 2);
  // 0.2 n^(-1/6) of the box, which is above a fifth of it only for n = 1.
  EXPECT_DOUBLE_EQ(kernels[0].sigma, 2.0);  // the least width: a fifth
  EXPECT_EQ(kernels[2].sigma, kernels[0].sigma);
  EXPECT_EQ(kernels[3].sigma, 10.0);
  const std::vector<double> many(200, 5.0);
  EXPECT_DOUBLE_EQ(
      FitCompatKernels(range, many, KernelWidth::kShared, 2)[0].sigma,
      2.0 * std::pow(200.0, -1.0 / 6.0));
}

TEST(CompatNormal, MassesAreThoseOfTheNormalDistribution) {
  for (const double a : {-45.0, -21.0, -3.0, -0.4, 0.0, 0.7, 6.5, 30.0}) {
    for (const double width : {0.1, 1.0, 20.0}) {
      const double expected = LogNormalMass(a, a + width);
      EXPECT_THAT(CompatLogMass(a, a + width),
                  DoubleNear(expected, 1e-12 * std::max(1.0, -expected)));
    }
  }
}

TEST(CompatVolumeWeights, GoodTrialsWeighWhatTheyAdd) {
  History history;
  const auto put = [&history](std::vector<double> values, double constraint) {
    Observation trial;
    trial.number = static_cast<std::int64_t>(history.size());
    trial.state = TrialState::kSucceeded;
    trial.values = std::move(values);
    trial.constraints = {constraint};
    history.Put(std::move(trial));
  };
  put({1.0, 3.0}, 0.0);  // adds (2 - 1) * (3.3 - 3)
  put({2.0, 1.0}, 0.0);  // adds (3.3 - 2) * (3 - 1)
  put({3.0, 3.0}, 0.0);  // dominated; with it the reference is (3.3, 3.3)
  put({0.0, 0.0}, 1.0);  // breaks its constraint
  EXPECT_THAT(CompatVolumeWeights(history, {0, 1, 2, 3}, kTwoCompat),
              ElementsAre(DoubleNear(0.3 / 2.6, 1e-12), 1.0, 1e-12, 1e-12));
}

// What holds for the densities of `compat` whatever Optuna recorded.

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

// Known answers of NumPy 2.4.

TEST(NumpyStream, HasTheBitsOfRandomState) {
  NumpyStream zero(0), most(4294967295u);
  const auto four = [](NumpyStream& stream) {
    std::vector<std::uint32_t> bits(4);
    for (std::uint32_t& word : bits) word = stream.NextBits();
    return bits;
  };
  EXPECT_THAT(four(zero),
              ElementsAre(2357136044u, 2546248239u, 3071714933u, 3626093760u));
  EXPECT_THAT(four(most),
              ElementsAre(419326371u, 479346978u, 3918654476u, 2416749639u));
}

TEST(NumpyStream, HasTheDoublesOfRandomState) {
  EXPECT_THAT(
      NumpyStream(42).Uniforms(3),
      ElementsAre(0.3745401188473625, 0.9507143064099162, 0.7319939418114051));
  NumpyStream stream(20240101);
  // Past several turns of the 624 words.
  EXPECT_EQ(stream.Uniforms(2000).back(), 0.5574067795053779);
  EXPECT_EQ(stream.Uniform(-3.0, 5.0), 0.7752806320043968);
}

TEST(NumpyStream, ACopyGoesOnWhereTheOriginalStood) {
  NumpyStream stream(7);
  stream.Uniforms(100);
  NumpyStream copy = stream;
  EXPECT_EQ(stream.Uniforms(1000), copy.Uniforms(1000));
}

std::vector<double> Harmonic(int count) {
  std::vector<double> numbers;
  for (int i = 1; i <= count; ++i) numbers.push_back(1.0 / i);
  return numbers;
}

// From left to right it is 0.9999999999999999 and 6.282663880299502.
TEST(NumpySum, AddsInBlocks) {
  EXPECT_EQ(NumpySum({}), 0.0);
  EXPECT_EQ(NumpySum(std::vector<double>(10, 0.1)), 1.0);
  EXPECT_EQ(NumpySum(Harmonic(7)), 2.5928571428571425);
  EXPECT_EQ(NumpySum(Harmonic(20)), 3.597739657143682);
  EXPECT_EQ(NumpySum(Harmonic(300)), 6.282663880299504);
}

std::vector<double> Repeating(int count) {
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i * 7 % 5);
  return numbers;
}

TEST(NumpyArgSort, LeavesEqualNumbersWhereTheNetworkDoes) {
  EXPECT_THAT(NumpyArgSort(Repeating(20)),
              ElementsAre(0, 5, 15, 10, 8, 13, 3, 18, 11, 6, 16, 1, 14, 19, 4,
                          9, 12, 7, 2, 17));
}

TEST(NumpyArgSort, PartitionsAbove256Numbers) {
  const std::vector<std::size_t> order = NumpyArgSort(Repeating(300));
  const std::vector<std::size_t> first(order.begin(), order.begin() + 12);
  const std::vector<std::size_t> last(order.end() - 8, order.end());
  EXPECT_THAT(first,
              ElementsAre(0, 5, 30, 25, 35, 40, 270, 265, 275, 45, 70, 55));
  EXPECT_THAT(last, ElementsAre(32, 37, 272, 267, 7, 27, 297, 2));
}

TEST(NumpyArgSort, SortsWhateverTheNumbersAre) {
  NumpyStream stream(3);
  for (std::size_t count : {0u, 1u, 2u, 255u, 256u, 257u, 999u, 5000u}) {
    std::vector<double> numbers = stream.Uniforms(count);
    for (double& number : numbers) {
      number = static_cast<double>(static_cast<int>(number * 300.0));
    }
    std::vector<std::size_t> order = NumpyArgSort(numbers);
    for (std::size_t i = 1; i < count; ++i) {
      ASSERT_LE(numbers[order[i - 1]], numbers[order[i]]) << count;
    }
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_TRUE(std::is_permutation(all.begin(), all.end(), order.begin()));
  }
}

}  // namespace
}  // namespace frostline::sampler
