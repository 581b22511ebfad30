// SPDX-License-Identifier: Apache-2.0
#include "surrogate/rows.h"

#include <gtest/gtest.h>

#include "tests/surrogate/level_rows.h"

namespace frostline::surrogate {
namespace {

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

}  // namespace
}  // namespace frostline::surrogate
