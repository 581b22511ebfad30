// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "surrogate/questions.h"
#include "tests/surrogate/level_rows.h"

namespace frostline::surrogate {
namespace {

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

}  // namespace
}  // namespace frostline::surrogate
