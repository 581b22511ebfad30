// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/dataset.h"

#include <cmath>

#include "gmock/gmock.h"
#include "importance/measure/numbers.h"
#include "importance/report.h"
#include "sampler/draw/random.h"
#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

MeasuredAxis AxisOf(const Domain& domain) {
  return MeasureSpace(Space({{"x", domain, {}}}, {}, std::nullopt))[0];
}

// So many trials of each code from 0 on.
std::vector<double> CodesOf(const std::vector<int>& counts) {
  std::vector<double> codes;
  double code = 0.0;
  for (const int count : counts) {
    codes.insert(codes.end(), static_cast<std::size_t>(count), code);
    code += 1.0;
  }
  return codes;
}

const Levels kFour{{0, 1, 2, 3}};

TEST(Evenness, AnEvenSpreadIsLikely) {
  EXPECT_GT(LogChanceOfUneven(AxisOf(kFour), CodesOf({5, 5, 5, 5})),
            std::log(0.5));
}

TEST(Evenness, ACrowdIsNot) {
  EXPECT_LT(LogChanceOfUneven(AxisOf(kFour), CodesOf({61, 1, 2, 4})),
            std::log(1e-9));
}

TEST(Evenness, ALevelNobodyTriedCounts) {
  // A chi-squared of 3 degrees of freedom is 8 or more in 4.6 % of draws.
  EXPECT_NEAR(std::exp(LogChanceOfUneven(AxisOf(kFour), CodesOf({8, 8, 8, 0}))),
              0.046, 0.003);
}

TEST(Evenness, FrozenCountsByItsShareOfTheSpace) {
  const MeasuredAxis axis = AxisOf(LogUniform{1e-9, 1e-3, true});
  std::vector<double> codes(20, -1.0);
  for (int i = 0; i < 80; ++i) codes.push_back((i + 0.5) / 80.0);
  EXPECT_GT(LogChanceOfUneven(axis, codes), std::log(0.5));
  codes.resize(20);
  EXPECT_LT(LogChanceOfUneven(axis, codes), std::log(1e-9));
}

TEST(Evenness, AParameterThatCannotVaryIsEven) {
  EXPECT_EQ(LogChanceOfUneven(AxisOf(Levels{{0}}), std::vector<double>(9, 0.0)),
            0.0);
}

TEST(MeasuredAxis, LevelsAndChoicesAreCounted) {
  const MeasuredAxis levels(Levels{{0, 1e-6, 1e-3, 1e-2}}, 1.0);
  EXPECT_DOUBLE_EQ(levels.MassUpTo(levels.CodeOf(0)), 0.25);
  EXPECT_DOUBLE_EQ(levels.MassUpTo(levels.CodeOf(3)), 1.0);
  EXPECT_DOUBLE_EQ(levels.MassUpTo(1.5), 0.5);
  const MeasuredAxis choices(Categorical{{"1", "2"}}, 0.5);
  EXPECT_THAT(choices.choice_masses(), testing::ElementsAre(0.25, 0.25, 0.5));
  EXPECT_EQ(choices.CodeOf(kAbsent), 2.0);
}

TEST(MeasuredAxis, RatesAreUniformInTheLogarithmAndFrozenIsAnAtom) {
  const MeasuredAxis rate(LogUniform{1e-6, 1e-2, true}, 1.0);
  EXPECT_DOUBLE_EQ(rate.MassUpTo(rate.CodeOf(0.0)), kFrozenMass);
  EXPECT_NEAR(rate.MassUpTo(rate.CodeOf(1e-4)), 0.2 + 0.8 / 2.0, 1e-12);
  EXPECT_LT(rate.CodeOf(0.0), rate.CodeOf(1e-6));
  // Between frozen and the lowest rate there is nothing.
  EXPECT_DOUBLE_EQ(rate.MassUpTo(-0.5), kFrozenMass);
}

// The ratio of the two ends is no finite number.
TEST(MeasuredAxis, ARateOverSixHundredDecadesIsStillUniformInTheLogarithm) {
  const MeasuredAxis rate(LogUniform{1e-300, 1e300, false}, 1.0);
  EXPECT_NEAR(rate.MassUpTo(rate.CodeOf(1.0)), 0.5, 1e-12);
  EXPECT_NEAR(rate.MassUpTo(rate.CodeOf(1e150)), 0.75, 1e-12);
}

TEST(MeasuredAxis, AbsentIsAValueOfItsOwnBelowAllOthers) {
  const MeasuredAxis range(FloatRange{0, 10, 0, false}, 0.25);
  EXPECT_LT(range.CodeOf(kAbsent), range.CodeOf(0.0));
  EXPECT_DOUBLE_EQ(range.MassUpTo(range.CodeOf(kAbsent)), 0.75);
  EXPECT_DOUBLE_EQ(range.MassUpTo(range.CodeOf(5.0)), 0.875);
}

// Importance may not include the sampler, so the number is there twice.
TEST(MeasuredAxis, MeasuresFrozenAsTheSamplerDrawsIt) {
  EXPECT_EQ(kFrozenMass, sampler::kFrozenShare);
}

// The measure is the random sampler's own distribution, conditions included.
TEST(MeasureSpace, IsWhatTheRandomSamplerDraws) {
  Condition deep, trained;
  deep.parent = 0;
  deep.min = 1.0;
  deep.max = 2.0;
  trained.parent = 1;
  trained.min = 1e-4;
  trained.max = 1.0;
  const Space space({{"depth", IntRange{0, 2, 1, false}, {}},
                     {"rate", LogUniform{1e-6, 1e-2, true}, deep},
                     {"warmup", IntRange{1, 40, 1, true}, trained}},
                    {}, std::nullopt);
  const auto axes = MeasureSpace(space);
  const auto share = [&](std::size_t i, double value) {
    return axes[i].MassUpTo(axes[i].CodeOf(value));
  };
  Rng rng(6);
  double absent = 0.0, frozen = 0.0, short_warmup = 0.0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const Point point = sampler::DrawPoint(space, sampler::kFrozenShare, rng);
    absent += IsAbsent(point[2]) ? 1.0 : 0.0;
    frozen += IsAbsent(point[1]) || point[1] == 0.0 ? 1.0 : 0.0;
    short_warmup += IsAbsent(point[2]) || point[2] <= 4.0 ? 1.0 : 0.0;
  }
  EXPECT_NEAR(absent / kDraws, share(2, kAbsent), 0.015);
  EXPECT_NEAR(frozen / kDraws, share(1, 0.0), 0.015);
  EXPECT_NEAR(short_warmup / kDraws, share(2, 4.0), 0.015);
}

TEST(ShareInterval, IsAroundTheValueAndInsideItsRange) {
  const Interval interval = ShareInterval(0.5, {0.1, 0.2, 0.3});
  EXPECT_EQ(interval.value, 0.5);
  EXPECT_NEAR(interval.lo80, 0.42, 1e-12);
  EXPECT_NEAR(interval.hi95, 0.595, 1e-12);
  EXPECT_EQ(ShareInterval(0.01, {0.0, 0.1, 0.2}).lo95, 0.0);
  EXPECT_EQ(ShareInterval(0.3, {}).hi95, 0.3);
}

TEST(IntervalOfDraws, HasTheDrawsButIsNeverShortOfTheValue) {
  const Interval interval = IntervalOfDraws(0.2, {0.4, 0.0, 0.1, 0.3, 0.2});
  EXPECT_EQ(interval.value, 0.2);
  EXPECT_NEAR(interval.lo80, 0.04, 1e-12);
  EXPECT_NEAR(interval.hi95, 0.39, 1e-12);
  EXPECT_EQ(IntervalOfDraws(0.5, {0.1, 0.2}).hi80, 0.5);
  EXPECT_EQ(IntervalOfDraws(0.05, {0.1, 0.2}).lo95, 0.05);
  EXPECT_EQ(IntervalOfDraws(0.5, {}).lo95, 0.5);
}

TEST(RankByFalling, GivesEveryValueItsOwnRank) {
  EXPECT_THAT(RankByFalling({0.1, 0.5, 0.1}), testing::ElementsAre(2, 1, 3));
}

const Domain kRates = Levels{{0.0, 1e-5}};

Space NamedSpace(const std::vector<std::string>& names) {
  std::vector<Parameter> parameters;
  for (const std::string& name : names)
    parameters.push_back({name, kRates, {}});
  return Space(parameters, {}, std::nullopt);
}

TEST(DepthOrder, IsThatOfTheModelNotOfTheNames) {
  const Space space = NamedSpace({"head", "layer.10", "dropout", "layer.2.ffn",
                                  "layer.2.attention", "pooler", "embeddings"});
  EXPECT_THAT(DepthOrder(space), ElementsAre(6, 3, 4, 1, 5, 0, 2));
}

TEST(DepthOrder, TakesModulesBeforeTheParametersName) {
  const Space space({{"tied", kRates, {}}, {"a", kRates, {}}},
                    {{"layer.5", 0, 0.0, {}},
                     {"layer.3", 0, 0.0, {}},
                     {"layer.4", 1, 0.0, {}}},
                    std::nullopt);
  EXPECT_THAT(DepthOrder(space), ElementsAre(0, 1));
}

TEST(LayerGroups, CutLayersIntoThirds) {
  const auto groups = LayerGroups(
      NamedSpace({"embeddings", "layer.0", "layer.1", "layer.2", "layer.3",
                  "layer.4", "layer.5", "pooler", "head", "batch"}));
  ASSERT_EQ(groups.size(), 5u);
  EXPECT_EQ(groups[1].name, "lower");
  EXPECT_THAT(groups[0].parameters, ElementsAre(0));
  EXPECT_THAT(groups[1].parameters, ElementsAre(1, 2));
  EXPECT_THAT(groups[2].parameters, ElementsAre(3, 4));
  EXPECT_THAT(groups[3].parameters, ElementsAre(5, 6));
  EXPECT_THAT(groups[4].parameters, ElementsAre(7, 8));
}

TEST(LayerGroups, LeaveOutWhatReachesOverSeveralAndWhatIsNotThere) {
  const Space space(
      {{"all", kRates, {}}, {"head", kRates, {}}},
      {{"layer.0", 0, 0.0, {}}, {"layer.11", 0, 0.0, {}}, {"head", 1, 0.0, {}}},
      std::nullopt);
  const auto groups = LayerGroups(space);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].name, "head");
  EXPECT_THAT(LayerGroups(NamedSpace({"x", "y"})), IsEmpty());
}

TEST(LayerGroups, TakeNoOtherNameForALayer) {
  EXPECT_THAT(LayerGroups(NamedSpace({"layer", "layer.", "layer.x", "layer.1x",
                                      "layers.1", "layer.-1"})),
              IsEmpty());
}

}  // namespace
}  // namespace frostline::importance
