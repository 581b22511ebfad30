// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/fanova.h"

#include "gmock/gmock.h"

namespace frostline::importance {
namespace {

Tree Stump(int axis, double step) {
  Tree tree;
  tree.nodes.resize(3);
  tree.nodes[0].axis = axis;
  tree.nodes[0].threshold = 0.5;
  tree.nodes[0].left = 1;
  tree.nodes[0].right = 2;
  tree.nodes[2].value = step;
  return tree;
}

TEST(ForestShares, AverageOverTheTreesThatVary) {
  const std::vector<MeasuredAxis> axes(2, MeasuredAxis(Levels{{0, 1}}, 1.0));
  const Shares shares =
      ForestShares({Stump(0, 1.0), Stump(1, 9.0), Stump(0, 0.0), Stump(0, 2.0)},
                   axes, {0, 1});
  EXPECT_NEAR(shares.main[0], 2.0 / 3.0, 1e-15);
  EXPECT_NEAR(shares.main[1], 1.0 / 3.0, 1e-15);
  EXPECT_THAT(shares.pairs, testing::ElementsAre(0.0));
  EXPECT_NEAR(shares.unexplained, 0.0, 1e-15);
}

TEST(ForestShares, WithoutAnyVarianceNothingIsExplained) {
  const std::vector<MeasuredAxis> axes(2, MeasuredAxis(Levels{{0, 1}}, 1.0));
  const Shares shares = ForestShares({Stump(0, 0.0)}, axes, {});
  EXPECT_THAT(shares.main, testing::ElementsAre(0.0, 0.0));
  EXPECT_EQ(shares.unexplained, 1.0);
}

}  // namespace
}  // namespace frostline::importance
