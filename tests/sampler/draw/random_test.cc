// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

constexpr int kRandomDraws = 20'000;

std::vector<double> Draw(const Domain& domain) {
  Rng rng(1);
  std::vector<double> values;
  for (int i = 0; i < kRandomDraws; ++i) {
    values.push_back(DrawValue(domain, kFrozenShare, rng));
  }
  return values;
}

// Five standard deviations of a binomial count.
void ExpectShare(const std::vector<double>& values, double share, auto holds) {
  const auto count =
      static_cast<double>(std::count_if(values.begin(), values.end(), holds));
  EXPECT_NEAR(count, share * kRandomDraws,
              5.0 * std::sqrt(kRandomDraws * share * (1.0 - share)));
}

TEST(DrawValue, EveryLevelChoiceAndStepIsEquallyLikely) {
  for (const Domain& domain :
       {Domain(Levels{{0, 1e-6, 1e-5}}), Domain(IntRange{-4, 5, 4, false}),
        Domain(FloatRange{0.0, 0.3, 0.15, false}),
        Domain(Categorical{{"1", "2", "3"}})}) {
    const std::vector<double> values = Draw(domain);
    for (const double value : ListValues(domain)) {
      ExpectShare(values, 1.0 / 3.0, [&](double v) { return v == value; });
    }
  }
}

TEST(DrawValue, RatesAreUniformInTheLogarithmAndFrozenInAShare) {
  const std::vector<double> values = Draw(LogUniform{1e-6, 1e-2, true});
  ExpectShare(values, 0.2, [](double v) { return v == 0.0; });
  ExpectShare(values, 0.4, [](double v) { return v > 1e-4; });
  ExpectShare(values, 0.2, [](double v) { return v > 0.0 && v < 1e-5; });
}

TEST(DrawValue, LogarithmicIntegersAreAsWideAsTheirCells) {
  const std::vector<double> values = Draw(IntRange{1, 100, 1, true});
  const double whole = std::log(100.5 / 0.5);
  ExpectShare(values, std::log(3.0) / whole, [](double v) { return v == 1.0; });
  ExpectShare(values, std::log(100.5 / 9.5) / whole,
              [](double v) { return v >= 10.0; });
}

TEST(DrawPoint, AParameterIsAbsentWhereItsConditionIsNotMet) {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  const Space space({{"optimizer", Categorical{{"\"adam\"", "\"sgd\""}}, {}},
                     {"momentum", FloatRange{0.5, 0.9, 0.0, false}, when}},
                    {}, std::nullopt);
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const Point point = DrawPoint(space, kFrozenShare, rng);
    EXPECT_EQ(IsAbsent(point[1]), point[0] == 0.0);
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(LogNormalCdf, AgreesWithKnownValuesFarIntoBothTails) {
  EXPECT_DOUBLE_EQ(LogNormalCdf(0.0), std::log(0.5));
  EXPECT_DOUBLE_EQ(LogNormalCdf(-1.0), -1.8410216450092636);
  EXPECT_DOUBLE_EQ(LogNormalCdf(-40.0), -804.6084420137539);
  EXPECT_DOUBLE_EQ(LogNormalCdf(-1000.0), -500007.8266948122);
  EXPECT_NEAR(LogNormalCdf(8.0) / -6.220960574271786e-16, 1.0, 1e-11);
}

TEST(InverseLogNormalCdf, UndoesTheCdf) {
  for (double x = -60.0; x <= 8.0; x += 0.37) {
    EXPECT_NEAR(InverseLogNormalCdf(LogNormalCdf(x)), x,
                1e-12 * std::abs(x) + 1e-13)
        << x;
  }
}

TEST(LogNormalMass, IsExactWhereSubtractionWouldCancel) {
  // The density at 3 times the width.
  EXPECT_NEAR(LogNormalMass(3.0, 3.0 + 1e-12), -4.5 - kLogSqrtTwoPi - 27.631021,
              1e-3);
  EXPECT_NEAR(LogNormalMass(-1e-9, 1e-9), std::log(2e-9) - kLogSqrtTwoPi,
              1e-14);
  // Where the two ways of computing it meet they agree.
  for (const double a : {-7.0, -0.5, 0.0, 2.5}) {
    const double width = 1e-3 / std::max(1.0, std::abs(a));
    EXPECT_NEAR(LogNormalMass(a, a + width * 0.999),
                LogNormalMass(a, a + width * 1.002) + std::log(0.999 / 1.002),
                1e-5);
  }
}

TEST(LogNormalMass, PartsAddUp) {
  for (const double a : {-30.0, -3.0, 0.0, 1.0, 25.0}) {
    const double left = LogNormalMass(a, a + 0.4);
    const double right = LogNormalMass(a + 0.4, a + 1.0);
    const double whole = LogNormalMass(a, a + 1.0);
    EXPECT_NEAR(std::exp(left - whole) + std::exp(right - whole), 1.0, 1e-12);
  }
}

TEST(TruncatedNormal, OutsideThereIsNothing) {
  EXPECT_EQ(TruncatedNormalLogPdf(1.1, -1.0, 1.0), -kInfinity);
  EXPECT_EQ(TruncatedNormalLogPdf(-1.1, -1.0, 1.0), -kInfinity);
  EXPECT_NEAR(TruncatedNormalLogPdf(0.0, -1.0, 1.0), -0.5372233869025465,
              1e-15);
}

TEST(TruncatedNormal, PpfUndoesTheShareOfMassAndStaysInside) {
  for (const double a : {-50.0, -9.0, -1.0, 0.0, 0.5, 12.0}) {
    for (const double width : {1e-9, 1e-4, 0.1, 3.0, 60.0}) {
      const double b = a + width;
      double last = a;
      for (const double q : {0.0, 1e-12, 0.1, 0.5, 0.9, 1.0}) {
        const double x = TruncatedNormalPpf(q, a, b);
        EXPECT_GE(x, last);
        EXPECT_LE(x, b);
        last = x;
        if (width < 1e-2 || q < 0.1) continue;
        EXPECT_NEAR(std::exp(LogNormalMass(a, x) - LogNormalMass(a, b)), q,
                    1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace frostline::sampler
