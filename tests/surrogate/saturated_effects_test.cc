// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "surrogate/saturation.h"
#include "surrogate/scales.h"

namespace frostline::surrogate {
namespace {

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
