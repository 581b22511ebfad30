// SPDX-License-Identifier: Apache-2.0
//
// That runs equal Optuna's is shown by tests/parity (kind tpe_replay); here is
// what the recordings cannot show.
#include "sampler/optuna/compat.h"

#include <cmath>
#include <limits>

#include "sampler/draw/random.h"
#include "sampler/factory.h"
#include "sampler/optuna/compat_mixture.h"
#include "tests/sampler/odd_spaces.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

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

}  // namespace
}  // namespace frostline::sampler
