// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/truncated_normal.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace frostline::sampler {
namespace {

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
