// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/dataset.h"

#include <cmath>

#include "gmock/gmock.h"
#include "sampler/draw/random.h"
#include "tests/importance/trials.h"
#include "tests/support/status_matchers.h"

namespace frostline::importance {
namespace {

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

}  // namespace
}  // namespace frostline::importance
