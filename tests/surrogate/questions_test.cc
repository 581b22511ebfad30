// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "surrogate/surrogate.h"
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

}  // namespace
}  // namespace frostline::surrogate
