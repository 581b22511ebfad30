// SPDX-License-Identifier: Apache-2.0
#include "surrogate/influence.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "surrogate/scales.h"
#include "tests/surrogate/level_rows.h"

namespace frostline::surrogate {
namespace {

double FirstMatters(const Cells& cells) { return cells[0] > 0 ? 1.0 : 0.0; }

// What a fit of the other rows would say, with the same scales and unit.
double MeanOfOthers(const Surrogate& surrogate, const Loss& lost,
                    const Cells& point) {
  const Surrogate::Parts& parts = surrogate.parts();
  StandardRows left = parts.standard.rows;
  for (std::size_t k = lost.size(); k-- > 0;) {
    const auto at = static_cast<Index>(lost[k]);
    const Index after = left.values.size() - at - 1;
    left.cells.erase(left.cells.begin() + at);
    for (VectorXd* const column : {&left.values, &left.doubt, &left.spread}) {
      column->segment(at, after) = column->tail(after).eval();
      column->conservativeResize(column->size() - 1);
    }
  }
  const Evidence& likeliest =
      *parts.draws[LikeliestFirst(parts.draws, 1)[0]].evidence;
  const Evidence evidence(left, likeliest.scales());
  const double mean = BelieveAt(evidence, left, {point}).mean[0];
  return parts.standard.middle + parts.standard.scale * mean;
}

TEST(Influence, IsWhatAFitOfTheOtherRowsSays) {
  const Surrogate surrogate(UniformRows(3, 4, 40, 0.2, 1, FirstMatters), {});
  const std::vector<Cells> points = {{0, 1, 2}, {3, 0, 0}};
  const Influence influence(surrogate, points);
  for (const Loss& lost : {Loss{}, Loss{5}, Loss{0, 39}, Loss{3, 8, 21}}) {
    const std::vector<double> means = influence.MeansWithout(lost);
    for (std::size_t p = 0; p < points.size(); ++p) {
      EXPECT_NEAR(means[p], MeanOfOthers(surrogate, lost, points[p]), 1e-9);
    }
  }
}

TEST(Influence, MainEffectsAreThoseOfTheTruth) {
  const Surrogate surrogate(UniformRows(3, 2, 80, 0.01, 2, FirstMatters), {});
  const Influence influence(surrogate);
  const std::vector<double> mains = influence.MainVariancesWithout({});
  EXPECT_NEAR(mains[0], 0.25, 0.02);
  EXPECT_NEAR(mains[1], 0.0, 0.01);
  EXPECT_NEAR(influence.MainVariancesWithout({2, 9})[0], 0.25, 0.02);
}

// Two bad runs are the only ones with the first axis frozen.
TEST(Influence, FindsTheTwoRowsThatALeadRestsOn) {
  Rows rows = UniformRows(3, 3, 40, 0.02, 3,
                          [](const Cells& c) { return c[1] > 0 ? 0.1 : 0.0; });
  for (Cells& cells : rows.cells)
    cells[0] = std::max<std::uint8_t>(cells[0], 1);
  for (const std::size_t bad : {11u, 30u}) {
    rows.cells[bad][0] = 0;
    rows.values[bad] = -2.0;
  }
  const Influence influence(Surrogate(std::move(rows), {}));
  const auto lead = [&](const Loss& lost) {
    const std::vector<double> mains = influence.MainVariancesWithout(lost);
    return mains[0] - mains[1];
  };
  ASSERT_GT(lead({}), 0.0);
  EXPECT_EQ(influence.FindBreaking(lead), (std::vector<std::size_t>{11, 30}));
}

TEST(Influence, WhatManyRowsSayRestsOnNone) {
  const Surrogate surrogate(UniformRows(3, 3, 60, 0.1, 4, FirstMatters), {});
  const Influence influence(surrogate, {{0, 0, 0}, {2, 0, 0}});
  EXPECT_EQ(influence.FindBreaking([&](const Loss& lost) {
    const std::vector<double> means = influence.MeansWithout(lost);
    return means[1] - means[0];
  }),
            std::nullopt);
}

// One point ran five times and says what nobody else does.
TEST(Influence, RepeatsOfOnePointAreOneLoss) {
  Rows rows = UniformRows(2, 5, 60, 0.02, 5, [](const Cells&) { return 0.0; });
  for (std::size_t i = 0; i < 60; ++i) {
    if (rows.cells[i] == Cells{4, 4}) rows.cells[i][0] = 3;
  }
  for (std::size_t i = 0; i < 5; ++i) {
    rows.cells[i] = {4, 4};
    rows.values[i] = 3.0 + 0.01 * static_cast<double>(i);
  }
  const Influence influence(Surrogate(std::move(rows), {}), {{4, 4}});
  const auto found = influence.FindBreaking(
      [&](const Loss& lost) { return influence.MeansWithout(lost)[0] - 1.5; });
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace frostline::surrogate
