// SPDX-License-Identifier: Apache-2.0
#include "sampler/cost/nonnegative_fit.h"

#include <vector>

#include "base/rng.h"
#include "gmock/gmock.h"

namespace frostline::sampler {
namespace {

using Row = std::array<double, 3>;

// Divided by what w makes of them, so that w fits to 1.
std::vector<Row> RowsOf(const Row& w, double noise) {
  Rng rng(3);
  std::vector<Row> rows;
  for (int i = 0; i < 40; ++i) {
    Row row = {1.0, rng.Uniform(), 5.0 * rng.Uniform()};
    const double value = (w[0] * row[0] + w[1] * row[1] + w[2] * row[2]) *
                         (1.0 + noise * rng.Normal());
    for (double& column : row) column /= value;
    rows.push_back(row);
  }
  return rows;
}

TEST(NonnegativeFit, FindsTheWeightsThatMadeTheRows) {
  const std::vector<Row> rows = RowsOf({2.0, 3.0, 0.5}, 0.0);
  const Row found = FitToOne<3>(rows);
  EXPECT_NEAR(found[0], 2.0, 0.01);
  EXPECT_NEAR(found[1], 3.0, 0.02);
  EXPECT_NEAR(found[2], 0.5, 0.01);
}

// At the minimum no weight wants to move, but those at 0 below 0.
TEST(NonnegativeFit, EndsWhereNoWeightWantsToMove) {
  const std::vector<Row> rows = RowsOf({2.0, -1.0, 0.5}, 0.05);
  const Row found = FitToOne<3>(rows);
  EXPECT_EQ(found[1], 0.0);
  for (std::size_t i = 0; i < 3; ++i) {
    double slope = 0.0, squares = 0.0;
    for (const Row& row : rows) {
      slope += row[i] * (found[0] * row[0] + found[1] * row[1] +
                         found[2] * row[2] - 1.0);
      squares += row[i] * row[i];
    }
    slope += 1e-4 * squares * found[i];
    EXPECT_GT(slope, -1e-6);
    EXPECT_TRUE(found[i] == 0.0 || slope < 1e-6);
  }
}

TEST(NonnegativeFit, HasNoWeightForWhatNeverOccurs) {
  const std::vector<Row> rows = {{2.0, 0.0, 2.0}, {2.0, 0.0, 2.0}};
  const Row found = FitToOne<3>(rows);
  EXPECT_EQ(found[1], 0.0);
  EXPECT_NEAR(found[0] + found[2], 0.5, 0.001);
}

}  // namespace
}  // namespace frostline::sampler
