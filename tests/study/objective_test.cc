// SPDX-License-Identifier: Apache-2.0
#include "study/objective.h"

#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

TEST(Objective, SmallerLossIsBetterInBothDirections) {
  EXPECT_LT(AsLoss({"accuracy", Direction::kMaximize}, 0.9),
            AsLoss({"accuracy", Direction::kMaximize}, 0.8));
  EXPECT_LT(AsLoss({"loss", Direction::kMinimize}, 0.1),
            AsLoss({"loss", Direction::kMinimize}, 0.2));
}

TEST(Objective, EachNeedsAMetricOfItsOwn) {
  EXPECT_OK(CheckObjectives({{"a", Direction::kMinimize}}));
  EXPECT_THAT(CheckObjectives({}), FailsWith(ErrorId::kObjectiveInvalid));
  EXPECT_THAT(CheckObjectives({{"", Direction::kMinimize}}),
              FailsWith(ErrorId::kObjectiveInvalid));
  EXPECT_THAT(CheckObjectives(
                  {{"a", Direction::kMinimize}, {"a", Direction::kMaximize}}),
              FailsWith(ErrorId::kObjectiveInvalid));
}

}  // namespace
}  // namespace frostline
