// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "sampler/draw/qmc.h"

namespace frostline::sampler {
namespace {

#include "tests/sampler/draw/sobol_first_points.inc"

double ScrambledAt(const SobolSequence& sobol, std::uint32_t n, std::size_t d,
                   std::uint64_t seed) {
  return Scrambled(sobol.At(n, d), Rng(seed, d).Next());
}

TEST(Sobol, FirstPointsAreThoseOfSciPy) {
  const SobolSequence sobol(16);
  for (std::uint32_t n = 0; n < 64; ++n) {
    for (std::size_t d = 0; d < 16; ++d) {
      EXPECT_EQ(sobol.At(n, d), kFirstPoints[d][n] << 26) << n << ", " << d;
    }
  }
}

TEST(Sobol, FarPointsInHighDimensionsAreThoseOfSciPy) {
  const SobolSequence sobol(512);
  const auto in_30_bits = [&](std::uint32_t n, std::size_t d) {
    return sobol.At(n, d) >> 2;
  };
  EXPECT_EQ(in_30_bits(1000, 17), 370147328u);
  EXPECT_EQ(in_30_bits(1000, 255), 267386880u);
  EXPECT_EQ(in_30_bits(1000, 511), 424673280u);
  EXPECT_EQ(in_30_bits(54321, 99), 604684288u);
  EXPECT_EQ(in_30_bits(54321, 400), 209240064u);
  EXPECT_EQ(in_30_bits(54321, 511), 762265600u);
}

// Every box of volume 2^-m, cut at powers of two, has one of 2^m points: the
// first two dimensions are a (0,m,2)-net, scrambled or not.
TEST(Sobol, EveryBlockIsANetInTheFirstTwoDimensions) {
  const SobolSequence sobol(2);
  constexpr int kBits = 8;
  for (const std::uint32_t block : {0u, 1u, 5u}) {
    for (int wide = 0; wide <= kBits; ++wide) {
      std::set<std::pair<int, int>> plain, scrambled;
      for (std::uint32_t i = 0; i < 1u << kBits; ++i) {
        const std::uint32_t n = (block << kBits) + i;
        const double x = std::ldexp(1.0, wide);
        const double y = std::ldexp(1.0, kBits - wide);
        plain.insert({std::floor(x * sobol.At(n, 0) * 0x1.0p-32),
                      std::floor(y * sobol.At(n, 1) * 0x1.0p-32)});
        scrambled.insert({std::floor(x * ScrambledAt(sobol, n, 0, 3)),
                          std::floor(y * ScrambledAt(sobol, n, 1, 3))});
      }
      EXPECT_EQ(plain.size(), 1u << kBits) << block << ", " << wide;
      EXPECT_EQ(scrambled.size(), 1u << kBits) << block << ", " << wide;
    }
  }
}

TEST(Sobol, EveryDimensionIsStratified) {
  const SobolSequence sobol(512);
  for (std::size_t d = 0; d < 512; ++d) {
    std::set<int> cells;
    for (std::uint32_t n = 0; n < 128; ++n) {
      cells.insert(static_cast<int>(128 * ScrambledAt(sobol, n, d, 9)));
    }
    EXPECT_EQ(cells.size(), 128u) << d;
  }
}

TEST(Sobol, AScrambledPointIsUniform) {
  const SobolSequence sobol(3);
  for (const std::uint32_t n : {0u, 1u, 77u}) {
    double sum = 0.0, squares = 0.0;
    constexpr int kSeeds = 4000;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const double u = ScrambledAt(sobol, n, 2, seed);
      ASSERT_GE(u, 0.0);
      ASSERT_LT(u, 1.0);
      sum += u;
      squares += u * u;
    }
    EXPECT_NEAR(sum / kSeeds, 1.0 / 2.0, 0.02) << n;
    EXPECT_NEAR(squares / kSeeds, 1.0 / 3.0, 0.02) << n;
  }
}

// The centred L2 discrepancy (Hickernell, "A generalized discrepancy and
// quadrature error bound", 1998, eq. 3.6), squared.
template <typename PointAt>
double Discrepancy(int n, std::size_t dimensions, PointAt point_at) {
  double ones = 0.0, pairs = 0.0;
  for (int i = 0; i < n; ++i) {
    double one = 1.0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      const double x = std::abs(point_at(i, d) - 0.5);
      one *= 1.0 + x / 2.0 - x * x / 2.0;
    }
    ones += one;
    for (int j = 0; j < n; ++j) {
      double pair = 1.0;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const double a = point_at(i, d), b = point_at(j, d);
        pair *= 1.0 +
                (std::abs(a - 0.5) + std::abs(b - 0.5) - std::abs(a - b)) / 2.0;
      }
      pairs += pair;
    }
  }
  return std::pow(13.0 / 12.0, static_cast<double>(dimensions)) -
         2.0 * ones / n + pairs / n / n;
}

TEST(Sobol, IsFarMoreEvenThanChance) {
  constexpr std::size_t kDimensions = 7;
  constexpr int kPoints = 128;
  const SobolSequence sobol(kDimensions);
  Rng rng(1);
  std::vector<double> chance;
  for (std::size_t i = 0; i < kPoints * kDimensions; ++i) {
    chance.push_back(rng.Uniform());
  }
  const double random =
      Discrepancy(kPoints, kDimensions, [&](int i, std::size_t d) {
        return chance[static_cast<std::size_t>(i) * kDimensions + d];
      });
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    std::vector<double> even;
    for (std::uint32_t n = 0; n < kPoints; ++n) {
      for (std::size_t d = 0; d < kDimensions; ++d) {
        even.push_back(ScrambledAt(sobol, n, d, seed));
      }
    }
    const double scrambled =
        Discrepancy(kPoints, kDimensions, [&](int i, std::size_t d) {
          return even[static_cast<std::size_t>(i) * kDimensions + d];
        });
    EXPECT_LT(scrambled, random / 4.0) << seed;
  }
}

}  // namespace
}  // namespace frostline::sampler
