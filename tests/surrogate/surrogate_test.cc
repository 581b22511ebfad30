// SPDX-License-Identifier: Apache-2.0
#include "surrogate/surrogate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/rng.h"
#include "surrogate/rows.h"
#include "surrogate/scales.h"
#include "tests/surrogate/level_rows.h"

namespace frostline::surrogate {
namespace {

// One strong level effect, one pair, and an axis that does nothing.
double StepAndPair(const Cells& cells) {
  return (cells[0] >= 2 ? 1.0 : -1.0) +
         (cells[1] > 0 && cells[2] > 0 ? 1.0 : 0.0);
}

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double MainOf(const EffectDraws& draws, std::size_t axis) {
  double sum = 0.0;
  for (const auto& one : draws.main) sum += one[axis];
  return sum / static_cast<double>(draws.main.size());
}

TEST(Surrogate, FindsTheVarianceOfEachEffect) {
  const Surrogate surrogate(UniformRows(4, 4, 120, 0.1, 1, StepAndPair), {});
  const EffectDraws draws = surrogate.DrawEffects(100, 1);
  EXPECT_NEAR(MainOf(draws, 0), 1.0, 0.1);
  EXPECT_NEAR(MainOf(draws, 3), 0.0, 0.02);
  double pair = 0.0;
  for (std::size_t p = 0; p < draws.pairs.size(); ++p) {
    if (draws.pairs[p] != EffectDraws::Pair{1, 2}) continue;
    for (const auto& one : draws.joint) pair += one[p] / 100.0;
  }
  // 3/4 · 1/4 squared: the variance of a product of two centred halves.
  EXPECT_NEAR(pair, 0.1875 * 0.1875, 0.02);
}

// A product of two halves, of which the process is told the logarithm: all of
// what the two have together there is none of here.
TEST(Surrogate, FindsTheEffectsBehindTheSaturation) {
  Rows rows = UniformRows(2, 2, 60, 0.01, 8, [](const Cells& cells) {
    return (cells[0] > 0 ? 1.0 : 0.0) + (cells[1] > 0 ? 1.0 : 0.0);
  });
  const Surrogate surrogate(std::move(rows), {});
  const EffectDraws draws = surrogate.DrawEffects(50, 1, /*saturates=*/true);
  const double middle = (1.0 + std::exp(1.0)) / 2.0;
  const double half = (std::exp(1.0) - 1.0) / 2.0;
  EXPECT_NEAR(MainOf(draws, 0), middle * middle * half * half, 0.15);
  EXPECT_NEAR(draws.joint[0][0], std::pow(half, 4), 0.15);
}

TEST(Surrogate, IsUnsureOfWhatWasNeverVisited) {
  Rows rows = UniformRows(3, 4, 60, 0.1, 2, StepAndPair);
  for (Cells& cells : rows.cells)
    cells[0] = std::min<std::uint8_t>(cells[0], 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows.values[i] = StepAndPair(rows.cells[i]);
  }
  const Surrogate surrogate(std::move(rows), {});
  EXPECT_GT(surrogate.At(Cells{3, 1, 1}).variance,
            10.0 * surrogate.At(Cells{1, 1, 1}).variance);
}

TEST(Surrogate, PredictsTrialsThatItHasNotSeen) {
  const Surrogate surrogate(UniformRows(4, 4, 100, 0.1, 3, StepAndPair), {});
  const Rows fresh = UniformRows(4, 4, 200, 0.0, 4, StepAndPair);
  double held = 0.0;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const Belief belief = surrogate.At(fresh.cells[i]);
    const double off = std::abs(belief.mean - fresh.values[i]);
    held += off <= 1.2816 * std::sqrt(belief.variance) ? 1.0 / 200.0 : 0.0;
    EXPECT_LT(off, 0.6);
  }
  EXPECT_GT(held, 0.7);
}

TEST(Surrogate, LeavesARowOutAsIfItHadNotBeenThere) {
  Rows rows = UniformRows(3, 4, 50, 0.2, 5, StepAndPair);
  const Surrogate all(rows, {});
  const Belief left = all.LeftOut()[7];
  const Cells cells = rows.cells[7];
  rows.cells.erase(rows.cells.begin() + 7);
  rows.values.erase(rows.values.begin() + 7);
  const Surrogate others(std::move(rows), {});
  // The scales have seen it, so they are near and not the same.
  EXPECT_NEAR(left.mean, others.At(cells).mean, 0.15);
}

TEST(Surrogate, TakesADivergedRunForNoEvidenceAboutItsNeighbours) {
  Rows rows = UniformRows(3, 4, 80, 0.1, 6, StepAndPair);
  const Belief before = Surrogate(rows, {}).At(rows.cells[11]);
  rows.values[11] = -20.0;
  const Surrogate surrogate(rows, {});
  EXPECT_GT(surrogate.spread_of_rows()[11], 10.0);
  EXPECT_NEAR(surrogate.At(rows.cells[11]).mean, before.mean, 1.0);
}

TEST(Surrogate, IsTheSameForTheSameRows) {
  const Rows rows = UniformRows(3, 4, 40, 0.2, 7, StepAndPair);
  const Surrogate a(rows, {.seed = 3});
  const Surrogate b(rows, {.seed = 3});
  EXPECT_EQ(a.At(rows.cells[0]).mean, b.At(rows.cells[0]).mean);
  EXPECT_EQ(a.DrawEffects(5, 1).main, b.DrawEffects(5, 1).main);
}

TEST(Surrogate, LearnsFromAPartOfVeryManyRows) {
  const Surrogate surrogate(UniformRows(3, 4, 300, 0.1, 8, StepAndPair),
                            {.most_rows = 60});
  EXPECT_EQ(surrogate.rows_used(), 60u);
  EXPECT_EQ(surrogate.LeftOut().size(), 300u);
  EXPECT_NEAR(surrogate.At(Cells{3, 1, 1}).mean, 2.0, 0.4);
}

TEST(Surrogate, DrawsPointsTogether) {
  const Rows rows = UniformRows(3, 4, 40, 0.2, 9, StepAndPair);
  const Surrogate surrogate(rows, {});
  const auto draws = surrogate.Draw({{3, 1, 1}, {3, 1, 1}}, 50, 1);
  std::vector<double> first;
  for (const auto& one : draws) {
    EXPECT_NEAR(one[0], one[1], 0.02);
    first.push_back(one[0]);
  }
  EXPECT_NEAR(MeanOf(first), surrogate.At(Cells{3, 1, 1}).mean, 0.2);
}

TEST(KernelOf, AveragesToNothingUnderTheSharesOfTheSpace) {
  Axis axis = LevelAxisOf(4);
  axis.masses = {0.4, 0.3, 0.2, 0.1};
  const CellTable table = KernelOf(axis, 2.0, 1.0);
  double trace = 0.0;
  for (std::size_t a = 0; a < 4; ++a) {
    double mean = 0.0;
    for (std::size_t b = 0; b < 4; ++b) {
      mean += axis.masses[b] * table[a * 4 + b];
    }
    EXPECT_NEAR(mean, 0.0, 1e-12);
    trace += axis.masses[a] * table[a * 5];
  }
  EXPECT_NEAR(trace, 1.0, 1e-12);
}

TEST(KernelOf, SetsFrozenApartByTheGap) {
  const Axis axis = LevelAxisOf(3);
  const CellTable near = KernelOf(axis, 2.0, 0.5);
  const CellTable far = KernelOf(axis, 2.0, 5.0);
  EXPECT_GT(near[0 * 3 + 1], far[0 * 3 + 1]);
  EXPECT_GT(far[1 * 3 + 2], far[0 * 3 + 1]);
}

TEST(KernelOf, FindsChoicesAlikeToNothing) {
  Axis axis = LevelAxisOf(3);
  axis.kinds.assign(3, CellKind::kAlone);
  const CellTable table = KernelOf(axis, 2.0, 1.0);
  EXPECT_NEAR(table[1], table[2], 1e-12);
  EXPECT_LT(table[1], 0.0);
}

TEST(KernelOf, IsNothingWhereOneCellHasAllOfTheSpace) {
  Axis axis = LevelAxisOf(2);
  axis.masses = {1.0, 0.0};
  for (const double one : KernelOf(axis, 2.0, 1.0)) EXPECT_EQ(one, 0.0);
}

double Bent(const Cells& cells) {
  return cells[0] * 0.5 + (cells[1] == 2 ? 1.0 : 0.0) * cells[2] + 7.0;
}

TEST(AxisWalk, OfAllScalesExpectsWhatTheSurrogateExpects) {
  const Surrogate surrogate(UniformRows(3, 4, 40, 0.1, 5, Bent), {.seed = 3});
  const AxisWalk walk(surrogate, 1000);
  Cells cells = {1, 2, 3};
  const std::vector<double> along = walk.Along(1, cells);
  ASSERT_EQ(along.size(), 4u);
  for (std::uint8_t cell = 0; cell < 4; ++cell) {
    cells[1] = cell;
    EXPECT_NEAR(along[cell], surrogate.At(cells).mean, 1e-6);
    EXPECT_NEAR(walk.At(cells), along[cell], 1e-9);
  }
}

TEST(AxisWalk, OfAFewScalesIsNearToIt) {
  const Surrogate surrogate(UniformRows(3, 4, 80, 0.1, 6, Bent), {.seed = 3});
  const AxisWalk walk(surrogate, 4);
  for (std::uint8_t cell = 0; cell < 4; ++cell) {
    const Cells cells = {cell, 2, 1};
    EXPECT_NEAR(walk.At(cells), surrogate.At(cells).mean, 0.1);
  }
}

std::vector<Axis> TwoAxes() { return {LevelAxisOf(4), LevelAxisOf(4)}; }

TEST(Telling, ALevelThatNobodyTriedTellsMost) {
  const std::vector<Cells> taken(8, Cells{1, 2});
  const std::vector<double> told =
      Telling(TwoAxes(), taken, {{1, 2}, {1, 3}, {3, 3}, {3, 0}});
  EXPECT_EQ(std::max_element(told.begin(), told.end()) - told.begin(), 3);
  EXPECT_LT(told[0], 0.2 * told[3]);
  EXPECT_LT(told[1], told[3]);
}

TEST(Telling, EachRunTellsLessThanTheOneBefore) {
  std::vector<Cells> taken = {{0, 0}};
  double before = 1.0;
  for (int run = 0; run < 6; ++run) {
    const double told = Telling(TwoAxes(), taken, {{2, 3}})[0];
    EXPECT_GT(told, 0.0);
    EXPECT_LT(told, before);
    before = told;
    taken.push_back({2, 3});
  }
}

// All runs together cannot tell more than there is to know.
TEST(Telling, TellsNoMoreThanTheMainEffectsVary) {
  std::vector<Cells> taken = {{0, 0}};
  double told = 0.0;
  for (int run = 0; run < 40; ++run) {
    const Cells next = {static_cast<std::uint8_t>(run % 4),
                        static_cast<std::uint8_t>(run / 4 % 4)};
    told += Telling(TwoAxes(), taken, {next})[0];
    taken.push_back(next);
  }
  EXPECT_GT(told, 0.1);
  EXPECT_LT(told, 0.5);  // their usual variance, both together
}

TEST(Telling, ACellOfMuchOfTheSpaceTellsMoreThanARareOne) {
  const std::vector<Axis> axes = {{.masses = {0.5, 0.45, 0.05},
                                   .kinds = std::vector(3, CellKind::kAlone),
                                   .places = std::vector<double>(3, 0.0)},
                                  LevelAxisOf(4)};
  const std::vector<Cells> taken(8, Cells{0, 1});
  const std::vector<double> told = Telling(axes, taken, {{1, 1}, {2, 1}});
  EXPECT_GT(told[0], told[1]);
}

// Parts of a covariance, to the last bit: what is added up row by row is what
// its definition says, axis by axis, whatever the number of rows.

std::uint64_t BitsOf(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

std::vector<Cells> RandomCells(const std::vector<Axis>& axes, std::size_t count,
                               Rng& rng) {
  std::vector<Cells> points(count);
  for (Cells& cells : points) {
    for (const Axis& axis : axes) {
      cells.push_back(static_cast<std::uint8_t>(rng.Below(axis.cells())));
    }
  }
  return points;
}

class Gram : public ::testing::TestWithParam<int> {};

TEST_P(Gram, IsItsDefinitionToTheLastBit) {
  Rng rng(static_cast<std::uint64_t>(GetParam()));
  const std::size_t count = 1 + rng.Below(6);
  const std::size_t levels = 2 + rng.Below(5);
  const Rows rows =
      UniformRows(count, levels, 2, 0.1, 1, [](const Cells&) { return 0.0; });
  const Terms terms{rows.axes.size(), {}};
  VectorXd scales = UsualScales(rows.axes.size(), 0).mean;
  for (double& scale : scales) scale += 0.5 * rng.Normal();
  const AxisKernels kernels(rows.axes, std::exp(scales[kLength]),
                            std::exp(scales[kGap]));
  const auto a = RandomCells(rows.axes, 1 + rng.Below(9), rng);
  const auto b = RandomCells(rows.axes, 1 + rng.Below(9), rng);
  const GramParts parts = PartsOf(kernels, terms, scales, a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      double main = 0.0, e1 = 0.0, e2 = 0.0, e3 = 0.0;
      for (std::size_t axis = 0; axis < terms.axes; ++axis) {
        const double k = kernels.table(axis)(a[i][axis], b[j][axis]);
        const double z = std::exp(scales[JointScale(axis, terms.axes)]) * k;
        e3 += z * e2;
        e2 += z * e1;
        e1 += z;
        main += std::exp(scales[MainScale(axis)]) * k;
      }
      const auto row = static_cast<Index>(i), column = static_cast<Index>(j);
      EXPECT_EQ(BitsOf(parts.main(row, column)), BitsOf(main));
      EXPECT_EQ(BitsOf(parts.e1(row, column)), BitsOf(e1));
      EXPECT_EQ(BitsOf(parts.e2(row, column)), BitsOf(e2));
      EXPECT_EQ(BitsOf(parts.e3(row, column)), BitsOf(e3));
      EXPECT_EQ(BitsOf(parts.more(row, column)), BitsOf(0.0));
    }
  }
  // What MostTelling takes for the variance of one point.
  for (const Cells& point : a) {
    const double own = PartsOf(kernels, terms, scales, {point}, {point})
                           .Sum(std::exp(scales[kTriples]))(0, 0);
    EXPECT_EQ(BitsOf(VarianceAt(kernels, terms, scales, point)), BitsOf(own));
  }
}

TEST_P(Gram, ItsSumsAreThoseOfItsPartsToTheLastBit) {
  Rng rng(static_cast<std::uint64_t>(GetParam()));
  const std::size_t count = 2 + rng.Below(5);
  const Rows rows =
      UniformRows(count, 4, 2, 0.1, 1, [](const Cells&) { return 0.0; });
  Terms terms{rows.axes.size(), {}};
  if (GetParam() % 2 == 0) terms.pairs = {{0, 1}, {0, count - 1}};
  VectorXd scales = UsualScales(count, terms.pairs.size()).mean;
  for (double& scale : scales) scale += 0.5 * rng.Normal();
  const AxisKernels kernels(rows.axes, std::exp(scales[kLength]),
                            std::exp(scales[kGap]));
  const auto a = RandomCells(rows.axes, 1 + rng.Below(9), rng);
  const auto b = RandomCells(rows.axes, 1 + rng.Below(9), rng);
  const MatrixXd whole =
      PartsOf(kernels, terms, scales, a, b).Sum(std::exp(scales[kTriples]));
  TermSums sums(kernels, terms, scales, a);
  VectorXd column(static_cast<Index>(a.size()));
  for (std::size_t j = 0; j < b.size(); ++j) {
    sums.With(b[j], column);
    for (Index i = 0; i < column.size(); ++i) {
      EXPECT_EQ(BitsOf(column[i]), BitsOf(whole(i, static_cast<Index>(j))));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Gram, ::testing::Range(0, 40));

TEST(MostTelling, FewerAreTheFirstOfMore) {
  const Rows rows = UniformRows(5, 4, 300, 0.1, 3, StepAndPair);
  const std::vector<std::size_t> more = MostTelling(rows, 90);
  ASSERT_EQ(more.size(), 90u);
  for (const std::size_t count : {std::size_t{1}, std::size_t{40}}) {
    EXPECT_EQ(
        MostTelling(rows, count),
        std::vector<std::size_t>(
            more.begin(), more.begin() + static_cast<std::ptrdiff_t>(count)));
  }
  const std::vector<std::size_t> rising = FirstRising(more, 40);
  EXPECT_EQ(rising.size(), 40u);
  EXPECT_TRUE(std::is_sorted(rising.begin(), rising.end()));
  EXPECT_EQ(FirstRising(more, 500).size(), 90u);
  EXPECT_EQ(MostTelling(rows, 300).size(), 300u);
}

// Whoever divides the work among threads does it in another order each time.
TEST(Surrogate, TheOrderOfWorkChangesNoBit) {
  const ForEach backwards = [](std::size_t count, const auto& body) {
    for (std::size_t k = count; k-- > 0;) body(k);
  };
  const Rows rows = UniformRows(4, 4, 250, 0.1, 1, StepAndPair);
  const Surrogate forth(rows, {.seed = 3});
  const Surrogate back(rows, {.seed = 3, .for_each = backwards});
  EXPECT_EQ(forth.noise_variance(), back.noise_variance());
  const EffectDraws draws = forth.DrawEffects(30, 1, true);
  const EffectDraws others = back.DrawEffects(30, 1, true, {}, backwards);
  EXPECT_EQ(draws.main, others.main);
  EXPECT_EQ(draws.joint, others.joint);
  EXPECT_EQ(draws.higher, others.higher);
}

}  // namespace
}  // namespace frostline::surrogate
