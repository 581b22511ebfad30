// SPDX-License-Identifier: Apache-2.0
#include "surrogate/saturation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "surrogate/saturated_effects.h"
#include "surrogate/scales.h"
#include "tests/surrogate/level_rows.h"

namespace frostline::surrogate {
namespace {

// How far below the best value the end lies, in ranges of the values.
double DistanceOf(const Rows& rows) {
  const auto [best, worst] =
      std::minmax_element(rows.values.begin(), rows.values.end());
  return (*best - FindSaturation(rows).end()) / (*worst - *best);
}

double SumOfSteps(const Cells& cells) {
  return 0.5 * cells[0] + 0.3 * cells[1] + 0.4 * cells[2];
}

TEST(Saturation, GivesBackWhatItWasGiven) {
  const Saturation saturation(-2.0);
  for (const double value : {-1.999, 0.0, 40.0}) {
    EXPECT_NEAR(saturation.Back(saturation.Forward(value)), value, 1e-12);
  }
}

TEST(Saturation, KnowsTheMeanOfWhatIsUnsure) {
  const Saturation saturation(1.0);
  EXPECT_NEAR(saturation.MeanBack(0.0, 0.5), 1.0 + std::exp(0.25), 1e-12);
}

TEST(Saturation, LiesFarFromValuesThatAddUp) {
  const Rows rows = UniformRows(3, 4, 100, 0.05, 1, SumOfSteps);
  EXPECT_GT(DistanceOf(rows), 1.0);
}

TEST(Saturation, LiesNearToValuesThatMultiply) {
  const Rows rows = UniformRows(3, 4, 100, 0.0, 2, [](const Cells& cells) {
    return std::exp(2.0 * SumOfSteps(cells));
  });
  EXPECT_LT(DistanceOf(rows), 0.1);
}

TEST(Saturation, LiesBelowEveryValueSeen) {
  Rows rows = UniformRows(3, 4, 200, 0.3, 3, SumOfSteps);
  const double best = *std::min_element(rows.values.begin(), rows.values.end());
  EXPECT_LT(FindSaturation(rows).end(), best);
}

TEST(Saturation, StaysFiniteAtItsBound) {
  Rows rows = UniformRows(3, 4, 50, 0.0, 4, [](const Cells& cells) {
    return std::max(SumOfSteps(cells) - 1.0, 0.0);
  });
  const Saturation saturation = FindSaturation(rows, {.bound = 0.0});
  EXPECT_TRUE(std::isfinite(saturation.Forward(0.0)));
  EXPECT_LT(saturation.end(), 0.0);
  EXPECT_GT(saturation.end(), -0.1);
}

TEST(Saturation, ComesNoNearerThanItMay) {
  const Rows rows = UniformRows(3, 4, 100, 0.0, 2, [](const Cells& cells) {
    return std::exp(2.0 * SumOfSteps(cells));
  });
  const double far = FindSaturation(rows, {.nearest = 3.0}).end();
  EXPECT_LT(far, FindSaturation(rows).end());
}

TEST(Saturation, OfValuesThatAreAllEqualIsFiniteToo) {
  Rows rows = UniformRows(3, 4, 20, 0.0, 5, SumOfSteps);
  for (double& value : rows.values) value = 0.7;
  EXPECT_TRUE(std::isfinite(FindSaturation(rows).Forward(0.7)));
}

constexpr Index kCells = 3;

// Three axes of three cells, all alike; effects have mean 0 as kernels make
// them.
struct Drawn {
  explicit Drawn(double pair_deviation) {
    Rng rng(5, 0);
    terms.mean = 0.3;
    for (int a = 0; a < 3; ++a) {
      VectorXd main = 0.6 * NormalVector(kCells, rng);
      terms.main.emplace_back(main.array() - main.mean());
      MatrixXd joint(kCells, kCells);
      for (Index c = 0; c < kCells; ++c) {
        joint.col(c) = pair_deviation * NormalVector(kCells, rng);
      }
      joint.rowwise() -= joint.colwise().mean().eval();
      joint.colwise() -= joint.rowwise().mean().eval();
      terms.joint.push_back(joint);
    }
    for (std::uint8_t a = 0; a < kCells; ++a) {
      for (std::uint8_t b = 0; b < kCells; ++b) {
        for (std::uint8_t c = 0; c < kCells; ++c) points.push_back({a, b, c});
      }
    }
    terms.higher = VectorXd::Zero(static_cast<Index>(points.size()));
  }

  double At(const Cells& at) const {
    return terms.mean + terms.main[0][at[0]] + terms.main[1][at[1]] +
           terms.main[2][at[2]] + terms.joint[0](at[0], at[1]) +
           terms.joint[1](at[0], at[2]) + terms.joint[2](at[1], at[2]);
  }

  std::vector<VectorXd> masses{3, VectorXd::Constant(kCells, 1.0 / kCells)};
  std::vector<Cells> points;  // all that there are
  DrawnTerms terms;
};

TEST(SaturatedEffects, AddUpToTheFunction) {
  Drawn drawn(0.3);
  const Drawn before = drawn;
  ToOwnScale(drawn.masses, drawn.points, drawn.terms);
  for (std::size_t p = 0; p < drawn.points.size(); ++p) {
    EXPECT_NEAR(
        drawn.At(drawn.points[p]) + drawn.terms.higher[static_cast<Index>(p)],
        std::exp(before.At(drawn.points[p])), 1e-12);
  }
}

TEST(SaturatedEffects, AreExactWhereNothingInteracts) {
  Drawn drawn(0.0);
  const Drawn before = drawn;
  ToOwnScale(drawn.masses, drawn.points, drawn.terms);
  VectorXd means = VectorXd::Zero(kCells);
  for (const Cells& at : drawn.points) {
    means[at[0]] += std::exp(before.At(at)) / (kCells * kCells);
  }
  means.array() -= means.mean();
  EXPECT_LT((drawn.terms.main[0] - means).norm(), 1e-12);
}

TEST(SaturatedEffects, AreNearWhereLittleDoes) {
  Drawn drawn(0.15);
  const Drawn before = drawn;
  ToOwnScale(drawn.masses, drawn.points, drawn.terms);
  VectorXd means = VectorXd::Zero(kCells);
  for (const Cells& at : drawn.points) {
    means[at[1]] += std::exp(before.At(at)) / (kCells * kCells);
  }
  means.array() -= means.mean();
  EXPECT_LT((drawn.terms.main[1] - means).norm(), 0.05 * means.norm());
}

TEST(SaturatedEffects, AverageToNothing) {
  Drawn drawn(0.4);
  ToOwnScale(drawn.masses, drawn.points, drawn.terms);
  for (const VectorXd& one : drawn.terms.main) EXPECT_NEAR(one.sum(), 0, 1e-12);
  for (const MatrixXd& one : drawn.terms.joint) {
    EXPECT_LT(one.colwise().sum().norm() + one.rowwise().sum().norm(), 1e-12);
  }
}

}  // namespace
}  // namespace frostline::surrogate
