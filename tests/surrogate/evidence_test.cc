// SPDX-License-Identifier: Apache-2.0
//
// Parts of a covariance, to the last bit: what is added up row by row is what
// its definition says, axis by axis, whatever the number of rows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/rng.h"
#include "surrogate/scales.h"
#include "tests/surrogate/level_rows.h"

namespace frostline::surrogate {
namespace {

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
  // What SpreadRows takes for the variance of one point.
  for (const Cells& point : a) {
    const double own = PartsOf(kernels, terms, scales, {point}, {point})
                           .Sum(std::exp(scales[kTriples]))(0, 0);
    EXPECT_EQ(BitsOf(VarianceAt(kernels, terms, scales, point)), BitsOf(own));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Gram, ::testing::Range(0, 40));

}  // namespace
}  // namespace frostline::surrogate
