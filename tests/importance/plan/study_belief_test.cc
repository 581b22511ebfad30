// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/study_belief.h"

#include "gtest/gtest.h"

namespace frostline::importance {
namespace {

// Predictions from 1 to 3, of which `part` beyond their mean was seen.
Reach ReachOf(int trials, double part) {
  std::vector<double> predicted;
  std::vector<double> seen;
  for (int i = 0; i < trials; ++i) {
    predicted.push_back(1.0 + 2.0 * i / (trials - 1));
    const double noise = i % 2 == 0 ? 0.1 : -0.1;
    seen.push_back(2.0 + part * (predicted.back() - 2.0) + noise);
  }
  return FindReach(predicted, seen);
}

TEST(Reach, ManyTrialsTellThePart) {
  for (const double part : {0.3, 1.0}) {
    const Reach reach = ReachOf(100, part);
    EXPECT_NEAR(reach.part, part, 0.02);
    EXPECT_LT(reach.part_error, 0.03);
    EXPECT_NEAR(reach.usual, 2.0, 1e-9);
    EXPECT_EQ(reach.furthest, 3.0);
  }
}

TEST(Reach, FewTrialsLeaveItOpen) {
  const Reach none = FindReach({2.0, 2.0}, {1.0, 3.0});
  EXPECT_NEAR(none.part, 0.7, 1e-9);
  EXPECT_NEAR(none.part_error, 0.3, 1e-9);
  EXPECT_GT(ReachOf(6, 0.3).part_error, ReachOf(100, 0.3).part_error);
}

TEST(Reach, WhatNoTrialReachedCountsInPartAgain) {
  const Reach reach = {.usual = 2.6, .furthest = 2.9, .part = 0.5};
  EXPECT_EQ(Reached(reach, 2.0, 0.5), 2.0);
  EXPECT_NEAR(Reached(reach, 2.8, 0.5), 2.7, 1e-12);
  EXPECT_NEAR(Reached(reach, 3.3, 0.5), 2.85, 1e-12);
}

}  // namespace
}  // namespace frostline::importance
