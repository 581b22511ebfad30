// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/table_truth.h"

#include "base/rng.h"
#include "gmock/gmock.h"
#include "tests/bench/tables/small_table.h"

namespace frostline::bench {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

// Variances over levels: a 2/3, b 1/6, the product of c and d (2/3)^2.
double Surface(const int (&levels)[4]) {
  return 0.1 *
         (levels[0] + 0.5 * levels[1] + (levels[2] - 1.0) * (levels[3] - 1.0));
}

TEST(TableTruth, SharesOfACompleteTableAreExact) {
  const RecordedTable table =
      MakeTable({[](const int(&levels)[4], int) { return Surface(levels); }});
  const TableTruth truth = TruthOf(table);
  const double all = 2.0 / 3.0 + 1.0 / 6.0 + 4.0 / 9.0;
  EXPECT_TRUE(truth.complete);
  EXPECT_NEAR(truth.main[0], 2.0 / 3.0 / all, 1e-9);
  EXPECT_NEAR(truth.main[1], 1.0 / 6.0 / all, 1e-9);
  EXPECT_EQ(truth.pairs[0].first, 2U);
  EXPECT_EQ(truth.pairs[0].second, 3U);
  EXPECT_NEAR(truth.pairs[0].share, 4.0 / 9.0 / all, 1e-9);
  EXPECT_NEAR(truth.rest, 0.0, 1e-9);
  EXPECT_NEAR(truth.best->Mean(), 0.4, 1e-9);
}

TEST(TableTruth, NoiseOfTheMeansIsTakenOff) {
  Rng rng(3);
  const RecordedTable table = MakeTable({[&](const int(&levels)[4], int) {
    return Surface(levels) + 0.1 * rng.Normal();
  }});
  const TableTruth truth = TruthOf(table);
  EXPECT_NEAR(truth.noise.deviation, 0.1, 0.015);
  EXPECT_NEAR(truth.noise.variance_of_mean, 0.01 / 3.0, 0.001);
  EXPECT_LT(truth.main[2] + truth.main[3], 0.03);
  EXPECT_LT(truth.rest, 0.15);  // where noise is a fifth of the variance
  EXPECT_GT(truth.main_errors[0], 0.01);
  EXPECT_LT(truth.main_errors[0], 0.10);
}

TEST(TableTruth, WhatASeedDoesToAllCellsIsNoNoiseOfTheMeans) {
  const RecordedTable table = MakeTable({[](const int(&levels)[4], int seed) {
    return Surface(levels) + 0.05 * seed;
  }});
  const TableTruth truth = TruthOf(table);
  EXPECT_NEAR(truth.noise.deviation, 0.05, 1e-9);
  EXPECT_NEAR(truth.noise.variance_of_mean, 0.0, 1e-12);
}

TEST(TableTruth, MainEffectsOfATableWithGapsAreFitted) {
  const SmallTable all{
      [](const int(&levels)[4], int) { return Surface(levels); }};
  SmallTable some = all;
  some.missing = 3;
  const TableTruth whole = TruthOf(MakeTable(all));
  const TableTruth gaps = TruthOf(MakeTable(some));
  EXPECT_FALSE(gaps.complete);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(gaps.main[i], whole.main[i], 3.0 * gaps.main_errors[i] + 0.03);
  }
  EXPECT_THAT(gaps.pairs, ElementsAre());
  EXPECT_THAT(whole.main_errors, Each(DoubleNear(0.0, 1e-12)));
}

}  // namespace
}  // namespace frostline::bench
