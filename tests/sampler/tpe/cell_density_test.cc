// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "sampler/tpe/cells.h"
#include "tests/sampler/odd_spaces.h"

namespace frostline::sampler {
namespace {

const Levels kSeven{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}};

double Sum(const CellKernel& kernel, std::size_t cells, Cell center) {
  double sum = 0.0;
  for (Cell x = 0; x < cells; ++x) sum += kernel.Probability(center, x);
  return sum;
}

TEST(CellKernel, ProbabilitiesOfEveryCenterSumToOne) {
  const std::vector<CellAxis> axes = {
      {kSeven, true, 0.2},
      {kSeven, false, 0.2},
      {Categorical{{"1", "2", "3"}}, true, 0.2},
      {LogUniform{1e-6, 1e-2, true}, true, 0.2},
      {FloatRange{0.0, 1.0, 0.0, false}, true, 0.2}};
  for (const CellAxis& axis : axes) {
    for (const double width : {0.01, 0.1, 1.0}) {
      const CellKernel kernel(axis, width, 2.0);
      for (Cell c = 0; c < axis.cells(); ++c) {
        EXPECT_NEAR(Sum(kernel, axis.cells(), c), 1.0, 1e-9);
      }
    }
  }
}

TEST(CellKernel, NeighbouringLevelsAreAlike) {
  const CellAxis axis(kSeven, true, 0.2);
  const CellKernel kernel(axis, 0.1, 1.0);
  for (Cell x = 4; x < 6; ++x) {
    EXPECT_GT(kernel.Probability(3, x), 2 * kernel.Probability(3, x + 1));
  }
  const CellAxis choices(kSeven, false, 0.2);
  const CellKernel flat(choices, 0.1, 1.0);
  EXPECT_DOUBLE_EQ(flat.Probability(3, 4), flat.Probability(3, 6));
}

TEST(CellKernel, FrozenIsAsFarAsItIsSaidToBe) {
  const CellAxis axis(kSeven, true, 0.2);
  const CellKernel near(axis, 0.1, 1.0), far(axis, 0.1, 4.0);
  // One step away is what the lowest rate is from the next one.
  EXPECT_NEAR(near.Probability(0, 1) / near.Probability(0, 0),
              near.Probability(2, 1) / near.Probability(2, 2), 1e-12);
  EXPECT_LT(far.Probability(0, 1), 1e-3 * near.Probability(0, 1));
  EXPECT_NEAR(far.Probability(3, 2), near.Probability(3, 2), 0.01);
}

TEST(CellKernel, FrozenAmongRatesHasItsShareOfThePrior) {
  const CellAxis axis(LogUniform{1e-6, 1e-2, true}, true, 0.3);
  EXPECT_TRUE(axis.frozen());
  EXPECT_DOUBLE_EQ(axis.prior(0), 0.3);
  EXPECT_EQ(axis.CellOf(0.0), 0);
  EXPECT_EQ(axis.CellOf(1e-6), 1);
  EXPECT_EQ(axis.CellOf(1e-2), CellAxis::kBins);
}

TEST(CellKernel, DrawsAreAsLikelyAsItSays) {
  const CellAxis axis(kSeven, true, 0.2);
  CellKernel kernel(axis, 0.15, 2.0);
  Rng rng(3);
  std::vector<int> count(7, 0);
  for (int i = 0; i < 20'000; ++i) ++count[kernel.Draw(4, rng)];
  for (Cell x = 0; x < 7; ++x) {
    EXPECT_NEAR(count[x] / 20'000.0, kernel.Probability(4, x), 0.02);
  }
}

TEST(CellAxis, ACellHoldsItsValues) {
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    const Space space = OddSpace(rng, false);
    for (const Parameter& parameter : space.parameters()) {
      const CellAxis axis(parameter.domain, true, 0.2);
      const auto cell = static_cast<Cell>(rng.Below(axis.cells()));
      const double value = axis.ValueIn(cell, rng);
      EXPECT_TRUE(Contains(parameter.domain, value)) << value;
      if (axis.exact()) {
        EXPECT_EQ(axis.CellOf(value), cell);
      }
    }
  }
}

class Density : public testing::Test {
 protected:
  // Three trials over two axes, the second one absent from the last.
  CellDensity Make(double separate_share) {
    CellDensity density(
        axes_, {&kernels_.Get(0, 0.2, 2.0), &kernels_.Get(1, 0.1, 2.0)},
        {.prior_weight = 0.5, .separate_share = separate_share});
    for (const CellRow& cells :
         {CellRow{2, 6}, CellRow{3, 1}, CellRow{0, kNoCell}}) {
      density.Add(cells, 1.0 + cells[0]);
    }
    density.Finish();
    return density;
  }

  std::vector<CellAxis> axes_ = {{Categorical{{"1", "2", "3", "4"}}, true, 0.2},
                                 {kSeven, true, 0.2}};
  KernelCache kernels_{axes_};
};

TEST_F(Density, IsOneOverAllCells) {
  for (const double share : {0.0, 0.5, 1.0}) {
    CellDensity density = Make(share);
    double sum = 0.0;
    for (Cell a = 0; a < 4; ++a) {
      for (Cell b = 0; b < 7; ++b) {
        sum += std::exp(density.LogRatio({a, b})) / 28.0;
      }
    }
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
}

TEST_F(Density, IsHighWhereTrialsLieTogether) {
  CellDensity together = Make(0.0), separately = Make(1.0);
  EXPECT_GT(together.LogRatio({2, 6}), together.LogRatio({2, 1}) + 1.0);
  EXPECT_GT(together.LogRatio({3, 1}), separately.LogRatio({3, 1}));
}

TEST_F(Density, MovesAreWhatTheyAreFromScratch) {
  CellDensity density = Make(0.4);
  const CellRow x = {1, 4};
  std::vector<double> moves;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    density.LogRatio(x);
    density.LogRatiosOfMoves(x, axis, moves);
    ASSERT_EQ(moves.size(), axes_[axis].cells());
    for (Cell v = 0; v < moves.size(); ++v) {
      CellRow moved = x;
      moved[axis] = v;
      EXPECT_NEAR(moves[v], Make(0.4).LogRatio(moved), 1e-9);
    }
  }
}

TEST_F(Density, OfNothingIsThePrior) {
  CellDensity density(axes_,
                      {&kernels_.Get(0, 0.2, 2.0), &kernels_.Get(1, 0.1, 2.0)},
                      {.prior_weight = 0.5, .separate_share = 0.5});
  density.Finish();
  EXPECT_DOUBLE_EQ(density.LogRatio({1, 4}), 0.0);
}

// 400 parameters: products of likenesses are far below the smallest double.
TEST(CellDensity, IsFiniteInManyDimensions) {
  const std::vector<CellAxis> axes(400, CellAxis(kSeven, true, 0.2));
  KernelCache kernels(axes);
  CellDensity density(axes, std::vector(400, &kernels.Get(0, 0.06, 1.0)),
                      {.prior_weight = 0.5, .separate_share = 0.5});
  density.Add(CellRow(400, 1), 1.0);
  density.Finish();
  EXPECT_TRUE(std::isfinite(density.LogRatio(CellRow(400, 6))));
  EXPECT_GT(density.LogRatio(CellRow(400, 1)),
            density.LogRatio(CellRow(400, 6)));
}

}  // namespace
}  // namespace frostline::sampler
