// SPDX-License-Identifier: Apache-2.0
#include "surrogate/surrogate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

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

}  // namespace
}  // namespace frostline::surrogate
