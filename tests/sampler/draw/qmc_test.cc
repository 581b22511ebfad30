// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/qmc.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/rng.h"
#include "gmock/gmock.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

std::unique_ptr<Sampler> Qmc(const Space& space, std::uint64_t seed = 5,
                             const Options& options = {}) {
  auto made = MakeQmcSampler({.options = options,
                              .space = space,
                              .objectives = kLoss,
                              .prior_studies = {},
                              .study_seed = seed});
  EXPECT_OK(made);
  return *std::move(made);
}

// What is proposed does not depend on the trial's own chance.
Point At(Sampler& sampler, std::int64_t number, const History& history = {}) {
  Rng rng(99);
  auto point = sampler.Propose(history, number, rng);
  EXPECT_OK(point);
  return *std::move(point);
}

Observation SeenSobol(std::int64_t number, const Point& point,
                      TrialState state = TrialState::kRunning) {
  Observation trial;
  trial.number = number;
  trial.point = point;
  trial.state = state;
  return trial;
}

Space LayersOfSobol(int count) {
  std::vector<Parameter> all;
  for (int i = 0; i < count; ++i) {
    all.push_back({"layer." + std::to_string(i),
                   Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}},
                   {}});
  }
  return Space(all, {}, {});
}

std::map<double, int> Tally(Sampler& sampler, std::size_t parameter,
                            std::int64_t first, int count) {
  std::map<double, int> tally;
  for (int i = 0; i < count; ++i) {
    ++tally[At(sampler, first + i)[parameter]];
  }
  return tally;
}

TEST(Qmc, EveryLevelComesEquallyOftenInEveryBlock) {
  const auto qmc = Qmc(LayersOfSobol(14));
  for (std::size_t d = 0; d < 14; ++d) {
    const auto tally = Tally(*qmc, d, 64, 64);
    ASSERT_EQ(tally.size(), 7u);
    // 64 / 7 is 9.1.
    for (const auto& [level, count] : tally) EXPECT_NEAR(count, 9.1, 1.2);
  }
}

TEST(Qmc, ChoicesStepsAndFrozenHaveTheirShare) {
  const Space space({{"choice", Categorical{{"1", "2", "3", "4"}}, {}},
                     {"step", FloatRange{0.0, 0.7, 0.1, false}, {}},
                     {"rate", LogUniform{1e-8, 1e-4, true}, {}},
                     {"whole", IntRange{1, 16, 1, true}, {}}},
                    {}, {});
  for (const char* scramble : {"true", "false"}) {
    const auto qmc =
        Qmc(space, 5, {{"frozen_share", "0.25"}, {"scramble", scramble}});
    for (const auto& [choice, count] : Tally(*qmc, 0, 0, 64)) {
      EXPECT_EQ(count, 16) << choice;
    }
    for (const auto& [step, count] : Tally(*qmc, 1, 0, 64)) {
      EXPECT_EQ(count, 8) << step;
    }
    EXPECT_EQ(Tally(*qmc, 2, 0, 64)[0.0], 16);
    // ln(1.5 / 0.5) / ln(16.5 / 0.5) of 64 is 20.1.
    EXPECT_NEAR((Tally(*qmc, 3, 0, 64)[1.0]), 20.1, 1.2);
  }
}

TEST(Qmc, RatesThatAreNotFrozenAreEvenInTheLogarithm) {
  const Space space({{"rate", LogUniform{1e-8, 1e-4, true}, {}}}, {}, {});
  const auto qmc = Qmc(space, 5, {{"frozen_share", "0.5"}});
  std::map<int, int> decades;
  for (int n = 0; n < 64; ++n) {
    const double rate = At(*qmc, n)[0];
    if (rate > 0.0) ++decades[static_cast<int>(std::floor(std::log10(rate)))];
  }
  for (int decade = -8; decade < -4; ++decade) EXPECT_EQ(decades[decade], 8);
}

TEST(Qmc, TheSeedOfTheStudyDecidesAndNothingElse) {
  const Space space = LayersOfSobol(14);
  const auto one = Qmc(space, 1), same = Qmc(space, 1), other = Qmc(space, 2);
  EXPECT_TRUE(SamePoint(At(*one, 12), At(*same, 12)));
  EXPECT_FALSE(SamePoint(At(*one, 12), At(*other, 12)));
}

TEST(Qmc, WithoutScramblingItStartsInTheLowestCorner) {
  const auto qmc = Qmc(LayersOfSobol(3), 1, {{"scramble", "false"}});
  EXPECT_THAT(At(*qmc, 0), testing::Each(0.0));
  EXPECT_THAT(At(*qmc, 1), testing::Each(3.0));
}

TEST(Qmc, AnInactiveParameterKeepsItsDimension) {
  Condition when;
  when.parent = 0;
  when.values = {1.0};
  const Levels levels{{0, 1, 2}};
  const Space always({{"a", levels, {}}, {"b", levels, {}}, {"c", levels, {}}},
                     {}, {});
  const Space sometimes(
      {{"a", levels, {}}, {"b", levels, when}, {"c", levels, {}}}, {}, {});
  const auto full = Qmc(always), part = Qmc(sometimes);
  for (int n = 0; n < 32; ++n) {
    const Point expected = At(*full, n), point = At(*part, n);
    EXPECT_EQ(point[2], expected[2]);
    EXPECT_EQ(IsAbsent(point[1]), point[0] != 1.0);
  }
}

TEST(Qmc, EnqueuedTrialsLeaveNoHole) {
  const auto fresh = Qmc(LayersOfSobol(6)), qmc = Qmc(LayersOfSobol(6));
  History history;
  history.Put(SeenSobol(0, Point(6, 6.0)));
  history.Put(SeenSobol(1, Point(6, 0.0)));
  std::int64_t due = 0;
  for (std::int64_t number = 2; number < 40; ++number) {
    if (number == 20) {
      history.Put(SeenSobol(number, Point(6, 3.0)));
      continue;
    }
    const Point point = At(*qmc, number, history);
    EXPECT_TRUE(SamePoint(point, At(*fresh, due++))) << number;
    history.Put(SeenSobol(number, point));
  }
}

TEST(Qmc, TrialsThatFailOrRunAgainKeepTheirPlace) {
  const auto fresh = Qmc(LayersOfSobol(6)), qmc = Qmc(LayersOfSobol(6));
  History history;
  for (std::int64_t number = 0; number < 8; ++number) {
    history.Put(SeenSobol(number, At(*qmc, number, history)));
  }
  EXPECT_TRUE(SamePoint(At(*qmc, 3, history), At(*fresh, 3)));
  history.Put(SeenSobol(3, At(*fresh, 3), TrialState::kFailed));
  EXPECT_TRUE(SamePoint(At(*qmc, 8, history), At(*fresh, 8)));
}

TEST(Qmc, APointThatIsLearntLaterMovesThoseAfterIt) {
  const auto fresh = Qmc(LayersOfSobol(6)), qmc = Qmc(LayersOfSobol(6));
  History history;
  history.Put(SeenSobol(4, At(*fresh, 4)));
  EXPECT_TRUE(SamePoint(At(*qmc, 5, history), At(*fresh, 5)));
  history.Put(SeenSobol(2, Point(6, 1.0)));
  // Trial 4 was due point 3 and has another, so it does not count in the
  // sequence.
  EXPECT_TRUE(SamePoint(At(*qmc, 5, history), At(*fresh, 3)));
}

TEST(Qmc, TakesTheLargestSpace) {
  const auto qmc = Qmc(LayersOfSobol(kMaxParameters));
  EXPECT_OK(LayersOfSobol(kMaxParameters).Check(At(*qmc, 123'456)));
}

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
