// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/attribution.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "study/space_builder.h"
#include "tests/importance/plan/plan_trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShapleySets, DealOutTheExampleOfTheHeader) {
  const ShapleySets shapley(2, 1);
  std::vector<double> values;
  for (const std::vector<bool>& set : shapley.sets()) {
    values.push_back(set[0] && set[1] ? 0.90
                     : set[0]         ? 0.84
                     : set[1]         ? 0.82
                                      : 0.80);
  }
  const std::vector<double> parts = shapley.Parts(values);
  EXPECT_NEAR(parts[0], 0.06, 1e-12);
  EXPECT_NEAR(parts[1], 0.04, 1e-12);
}

// With opposite orders each of two that go together has half of what they have
// together, also where not all sets are looked at.
TEST(ShapleySets, AreExactForPairsHoweverManyPartsThereAre) {
  for (const std::size_t count : {1u, 2u, 8u, 9u, 30u, 200u}) {
    const ShapleySets shapley(count, 7);
    EXPECT_LE(shapley.sets().size(), std::max<std::size_t>(402, 2 * count));
    std::vector<double> values;
    for (const std::vector<bool>& set : shapley.sets()) {
      double value = set[0] && set[count - 1] ? 4.0 : 1.0;
      for (std::size_t i = 0; i < count; ++i) {
        if (set[i]) value += static_cast<double>(i);
      }
      values.push_back(value);
    }
    const std::vector<double> parts = shapley.Parts(values);
    for (std::size_t i = 0; i < count; ++i) {
      const bool pair = i == 0 || i == count - 1;
      const double together = !pair ? 0.0 : count == 1 ? 3.0 : 1.5;
      EXPECT_NEAR(parts[i], static_cast<double>(i) + together, 1e-9) << count;
    }
  }
}

std::unique_ptr<const PlanBasis> BasisOf(const Space& space,
                                         const History& history) {
  auto basis = MakePlanBasis(space, frostline::kAccuracy, history, {});
  EXPECT_OK(basis);
  return *std::move(basis);
}

// The two trials whose true scores lie furthest apart.
std::pair<std::int64_t, std::int64_t> FurthestApart(const History& history) {
  const auto less = [](const Observation& a, const Observation& b) {
    return TwoMatter(a.point) < TwoMatter(b.point);
  };
  const auto [worst, best] = std::minmax_element(history.trials().begin(),
                                                 history.trials().end(), less);
  return {worst->number, best->number};
}

TEST(Difference, OfTwoTrialsIsThatOfTheLayersThatMatter) {
  const Space space = Modules(5, 6);
  const History history = UniformTrials(space, 150, TwoMatterNoisily);
  const auto basis = BasisOf(space, history);
  const auto [first, second] = FurthestApart(history);
  ASSERT_OK_AND_ASSIGN(const Difference difference,
                       ExplainDifference(*basis, first, second, {}));
  const Point& from = history.Find(first)->point;
  const Point& to = history.Find(second)->point;
  const auto truth = [&](std::size_t i) {
    const double weight = i == 1 ? 0.01 : i == 3 ? 0.02 : 0.0;
    return weight * (std::abs(from[i] - 4.0) - std::abs(to[i] - 4.0));
  };
  double sum = 0.0;
  for (const DifferencePart& part : difference.parts) {
    ASSERT_EQ(part.parameters.size(), 1u);
    const std::size_t i = part.parameters[0];
    sum += part.part.value;
    EXPECT_NEAR(part.part.value, truth(i), 0.012) << i;
    EXPECT_LE(part.part.lo95, part.part.value);
    EXPECT_GE(part.part.hi95, part.part.value);
    if (truth(i) > 0.02) {
      EXPECT_GE(part.sign_probability, 0.9) << i;
    }
  }
  EXPECT_NEAR(sum, difference.predicted.value, 1e-9);
  EXPECT_EQ(difference.parts[0].parameters[0], 3u);
  EXPECT_NEAR(difference.seen,
              history.Find(second)->values[0] - history.Find(first)->values[0],
              1e-12);
  EXPECT_NEAR(difference.luck.value + difference.predicted.value,
              difference.seen, 1e-12);
  EXPECT_LE(difference.luck.lo80, difference.luck.hi80);
  // Two runs of equal points, each with a deviation of .01.
  EXPECT_NEAR(difference.run_noise, 1.96 * std::sqrt(2.0) * 0.01, 0.012);
  EXPECT_THAT(difference.verdict, HasSubstr("layer.3 (+0.0"));
  EXPECT_THAT(difference.verdict, HasSubstr("no more than the luck"));
}

TEST(Difference, TurnedRoundHasTheOtherSign) {
  const Space space = Modules(5, 6);
  const History history = UniformTrials(space, 100, TwoMatterNoisily);
  const auto basis = BasisOf(space, history);
  const auto [first, second] = FurthestApart(history);
  ASSERT_OK_AND_ASSIGN(const Difference there,
                       ExplainDifference(*basis, first, second, {}));
  ASSERT_OK_AND_ASSIGN(const Difference back,
                       ExplainDifference(*basis, second, first, {}));
  EXPECT_NEAR(there.predicted.value, -back.predicted.value, 2e-3);
  EXPECT_EQ(there.seen, -back.seen);
}

// Nothing that is searched makes a difference of .2 where all else is noise of
// .001: a run that went wrong.
TEST(Difference, OfARunThatWentWrongIsNotPutOnTheModules) {
  const Space space = Modules(4, 4);
  const History all = UniformTrials(space, 80, [](const Point& p, Rng& rng) {
    return 0.7 + 0.02 * p[2] + 0.001 * rng.Normal();
  });
  History history;
  for (Observation trial : all.trials()) {
    if (trial.number == 17) trial.values[0] -= 0.2;
    history.Put(trial);
  }
  const auto basis = BasisOf(space, history);
  ASSERT_OK_AND_ASSIGN(const Difference difference,
                       ExplainDifference(*basis, 16, 17, {}));
  EXPECT_LT(difference.luck.value, -0.1);
  EXPECT_THAT(difference.verdict, HasSubstr("something else differs"));
}

TEST(Difference, NeedsTwoTrialsOfTwoPoints) {
  const Space space = Modules(3, 3);
  History history = UniformTrials(space, 40, [](const Point& p, Rng& rng) {
    return 0.5 + 0.1 * p[0] + 0.01 * rng.Normal();
  });
  history.Put(Succeeded(40, history.Find(7)->point, 0.6));
  const auto basis = BasisOf(space, history);
  const auto one_point = ExplainDifference(*basis, 7, 40, {});
  EXPECT_THAT(one_point,
              FailsAt(ErrorId::kRequestInvalid, std::string("second_trial")));
  EXPECT_THAT(std::string(one_point.status().message()),
              HasSubstr("at one point"));
  EXPECT_THAT(ExplainDifference(*basis, 99, 7, {}),
              FailsAt(ErrorId::kRequestInvalid, std::string("first_trial")));
  EXPECT_THAT(ExplainDifference(*basis, 7, -1, {}),
              FailsAt(ErrorId::kRequestInvalid, std::string("second_trial")));
}

// A rate that is there at one setting of a switch is part of the switch.
TEST(Difference, WhatOneTrialLacksGoesWithWhatDecidesOnIt) {
  const Levels rates{{0.0, 1e-5, 1e-4}};
  Parameter child{"layer.1", rates, Condition{.parent = 0, .values = {1.0}}};
  const Space space({{"mode", Categorical{{"\"a\"", "\"b\""}}, {}},
                     child,
                     {"layer.0", rates, {}}},
                    {{"layer.0", 2, 0.0, {}}, {"layer.1", 1, 0.0, {}}},
                    std::nullopt);
  const History history =
      UniformTrials(space, 90, [](const Point& p, Rng& rng) {
        const double rate = IsAbsent(p[1]) ? 0.0 : p[1];
        return 0.5 + 0.1 * p[0] + 0.05 * rate + 0.005 * rng.Normal();
      });
  std::int64_t with = -1;
  std::int64_t without = -1;
  for (const Observation& trial : history.trials()) {
    (IsAbsent(trial.point[1]) ? without : with) = trial.number;
  }
  const auto basis = BasisOf(space, history);
  ASSERT_OK_AND_ASSIGN(const Difference difference,
                       ExplainDifference(*basis, without, with, {}));
  EXPECT_THAT(difference.parts[0].parameters, ElementsAre(0u, 1u));
}

// All layers are best at level 2 but layer.1, which is best at level 4.
double OneIsApart(const Point& p, Rng& rng) {
  return 0.9 - 0.02 * std::abs(p[0] - 2.0) - 0.02 * std::abs(p[1] - 4.0) -
         0.02 * std::abs(p[2] - 2.0) + 0.005 * rng.Normal();
}

TEST(Tunability, IsOfTheModuleThatWantsARateOfItsOwn) {
  const Space space = Modules(3, 5);
  const auto basis = BasisOf(space, UniformTrials(space, 150, OneIsApart));
  ASSERT_OK_AND_ASSIGN(const auto tuned, FindTunability(*basis, {}));
  ASSERT_EQ(tuned.size(), 3u);
  for (const TunedParameter& one : tuned) {
    EXPECT_EQ(one.default_value, 2.0);
    if (one.parameter != 1) {
      EXPECT_NEAR(one.gain.value, 0.0, 0.01) << one.parameter;
      continue;
    }
    EXPECT_EQ(one.best_value, 4.0);
    EXPECT_NEAR(one.gain.value, 0.04, 0.01);
    EXPECT_GT(one.gain.lo95, 0.0);
    EXPECT_GT(one.gain_probability, 0.99);
  }
}

// Of a loss less is better, and a gain is above 0 all the same.
TEST(Tunability, OfALossIsAboveZeroToo) {
  const Space space = Modules(3, 5);
  const History history = UniformTrials(
      space, 150,
      [](const Point& p, Rng& rng) { return 1.0 - OneIsApart(p, rng); });
  ASSERT_OK_AND_ASSIGN(const auto basis,
                       MakePlanBasis(space, frostline::kLoss, history, {}));
  ASSERT_OK_AND_ASSIGN(const auto tuned, FindTunability(*basis, {}));
  EXPECT_NEAR(tuned[1].gain.value, 0.04, 0.01);
}

}  // namespace
}  // namespace frostline::importance
