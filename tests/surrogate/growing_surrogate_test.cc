// SPDX-License-Identifier: Apache-2.0
#include "surrogate/growing_surrogate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <stop_token>

#include "surrogate/scales.h"
#include "tests/surrogate/level_rows.h"

namespace frostline::surrogate {
namespace {

constexpr std::size_t kAxes = 4, kLevels = 5;

double BentGrowing(const Cells& cells) {
  return cells[0] * 0.5 + (cells[1] == 2 ? 1.0 : 0.0) * cells[2] -
         0.2 * cells[3];
}

Rows Sample(std::size_t count) {
  Rows rows = UniformRows(kAxes, kLevels, count, 0.1, 5, BentGrowing);
  for (double& value : rows.values) value = (value - 1.0) / 1.2;
  return rows;
}

RowColumns ColumnsOf(const Rows& rows, std::size_t count) {
  RowColumns columns;
  for (std::size_t i = 0; i < count; ++i) columns.Append(rows.cells[i], 0.0);
  return columns;
}

Cells DrawCells(Rng& rng) {
  Cells cells;
  for (std::size_t a = 0; a < kAxes; ++a) {
    cells.push_back(static_cast<std::uint8_t>(rng.Below(kLevels)));
  }
  return cells;
}

// Term by term, pairs and triples spelt out.
double Spelt(const PointKernel& kernel, const Cells& x, const Cells& y) {
  double sum = kernel.constant;
  const auto z = [&](std::size_t a) {
    return kernel.joint[a] * kernel.Row(a, x)[y[a]];
  };
  for (std::size_t a = 0; a < kAxes; ++a) {
    sum += kernel.main[a] * kernel.Row(a, x)[y[a]];
    for (std::size_t b = a + 1; b < kAxes; ++b) {
      sum += z(a) * z(b);
      for (std::size_t c = b + 1; c < kAxes; ++c) {
        sum += kernel.triples * z(a) * z(b) * z(c);
      }
    }
  }
  for (const auto& pair : kernel.pairs) {
    sum += pair.more * z(pair.first) * z(pair.second);
  }
  return sum;
}

TEST(PointKernel, AddsUpMainEffectsPairsAndTriples) {
  GrowingSurrogate surrogate;
  const Rows rows = Sample(40);
  surrogate.Learn(rows, {});
  const PointKernel& kernel = surrogate.kernel();
  const PointSums sums(kernel, ColumnsOf(rows, 40), rows.cells[7], 40);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(sums.covariance[i], Spelt(kernel, rows.cells[7], rows.cells[i]),
                1e-9);
  }
  EXPECT_NEAR(VarianceAt(kernel, rows.cells[7]), sums.covariance[7], 1e-9);
}

TEST(InverseFactor, TimesItsMatrixIsTheIdentity) {
  GrowingSurrogate surrogate;
  const Rows rows = Sample(30);
  surrogate.Learn(rows, {});
  const PointKernel& kernel = surrogate.kernel();
  InverseFactor factor;
  std::vector<std::vector<double>> matrix;
  for (std::size_t i = 0; i < 30; ++i) {
    std::vector<double>& row = matrix.emplace_back();
    for (std::size_t j = 0; j <= i; ++j) {
      row.push_back(Spelt(kernel, rows.cells[i], rows.cells[j]) +
                    (i == j ? kernel.noise : 0.0));
    }
    factor.Append(std::span(row).first(i), row[i]);
  }
  for (std::size_t i = 0; i < 30; ++i) {  // Wᵀ W K = I
    std::vector<double> column;
    for (std::size_t j = 0; j < 30; ++j) {
      column.push_back(matrix[std::max(i, j)][std::min(i, j)]);
    }
    const auto one = factor.MultiplyTransposed(factor.Multiply(column));
    for (std::size_t j = 0; j < 30; ++j) {
      EXPECT_NEAR(one[j], i == j ? 1.0 : 0.0, 1e-7);
    }
  }
}

TEST(GrowingSurrogate, BelievesWhatASurrogateOfTheModeBelieves) {
  const Rows rows = Sample(60);
  const Surrogate whole(rows, {.scale_draws = 1});
  GrowingSurrogate growing;
  growing.Learn(rows, {});
  double middle = 0.0, square = 0.0;
  for (const double value : rows.values) middle += value / 60.0;
  for (const double v : rows.values)
    square += (v - middle) * (v - middle) / 60.0;
  std::vector<double> values;
  for (const double v : rows.values) {
    values.push_back((v - middle) / std::sqrt(square));
  }
  growing.Condition(ColumnsOf(rows, 60), values);
  PointWalk walk(growing, true);
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    const Cells at = DrawCells(rng);
    walk.Place(at);
    EXPECT_NEAR(middle + std::sqrt(square) * growing.MeanAt(at),
                whole.At(at).mean, 1e-5);
    EXPECT_NEAR(square * walk.Here().variance, whole.At(at).variance, 1e-5);
  }
}

TEST(GrowingSurrogate, FollowsRowsThatChangeInTheMiddle) {
  const Rows rows = Sample(20);
  const RowColumns before = ColumnsOf(rows, 20);
  RowColumns after = before;
  after.cells[0][7] = after.cells[0][7] == 0 ? 1 : 0;
  GrowingSurrogate grown, fresh;
  grown.Learn(rows, {});
  fresh.Learn(rows, {});
  grown.Condition(before, rows.values);
  grown.Condition(after, rows.values);
  fresh.Condition(after, rows.values);
  EXPECT_EQ(grown.weights(), fresh.weights());
}

TEST(GrowingSurrogate, StoppedItKeepsWhatItKnewAndTakesUpWhereItWas) {
  const Rows rows = Sample(30), more = Sample(40);
  std::stop_source stop;
  stop.request_stop();
  const std::stop_token stopped = stop.get_token();
  GrowingSurrogate broken_off, fresh;
  ASSERT_TRUE(broken_off.Learn(rows, {}));
  EXPECT_FALSE(broken_off.Learn(more, {.stop = stopped}));
  const auto first = std::span<const double>(rows.values).first(20);
  EXPECT_TRUE(broken_off.Condition(ColumnsOf(rows, 20), first));
  EXPECT_FALSE(broken_off.Condition(ColumnsOf(rows, 30), rows.values, stopped));
  EXPECT_EQ(broken_off.factor().size(), 20u);
  ASSERT_TRUE(fresh.Learn(rows, {}));
  for (GrowingSurrogate* one : {&broken_off, &fresh}) {
    EXPECT_TRUE(one->Condition(ColumnsOf(rows, 30), rows.values));
  }
  EXPECT_EQ(broken_off.weights(), fresh.weights());
}

TEST(Surrogate, StoppedItDrawsNoScales) {
  std::stop_source stop;
  stop.request_stop();
  const Surrogate stopped(Sample(40), {.stop = stop.get_token()});
  EXPECT_EQ(stopped.parts().draws.size(), 1u);
}

TEST(GrowingSurrogate, ARowWithoutAValueTakesVarianceAndLeavesTheMean) {
  const Rows rows = Sample(30);
  const Cells at = {4, 4, 0, 4};
  GrowingSurrogate surrogate;
  surrogate.Learn(rows, {});
  RowColumns columns = ColumnsOf(rows, 30);
  surrogate.Condition(columns, rows.values);
  PointWalk before(surrogate, true);
  before.Place(at);
  const Belief alone = before.Here();
  columns.Append(at, 0.0);
  surrogate.Condition(columns, rows.values);
  PointWalk after(surrogate, true);
  after.Place(at);
  EXPECT_NEAR(after.Here().mean, alone.mean, 1e-9);
  EXPECT_LT(after.Here().variance, 0.9 * alone.variance);
}

// Walks at random and compares with a point placed anew.
TEST(PointWalk, BelievesTheSameWhicheverWayItCame) {
  Rows rows = Sample(34);
  GrowingSurrogate surrogate;
  surrogate.Learn(rows, {});
  surrogate.Condition(ColumnsOf(rows, 34), std::span(rows.values).first(30));
  PointWalk walk(surrogate, true), fresh(surrogate, true);
  Rng rng(5);
  Cells at = DrawCells(rng);
  walk.Place(at);
  for (int step = 0; step < 50; ++step) {
    const std::size_t axis = rng.Below(kAxes);
    at[axis] = DrawCells(rng)[axis];
    const int cell = at[axis];
    const Belief seen = walk.Look(axis, std::span(&cell, 1))[0];
    walk.Step(cell);
    fresh.Place(at);
    for (const Belief& belief : {seen, walk.Here()}) {
      ASSERT_NEAR(belief.mean, fresh.Here().mean, 1e-8);
      ASSERT_NEAR(belief.variance, fresh.Here().variance, 1e-8);
    }
    ASSERT_NEAR(surrogate.MeanAt(at), fresh.Here().mean, 1e-8);
  }
}

}  // namespace
}  // namespace frostline::surrogate
