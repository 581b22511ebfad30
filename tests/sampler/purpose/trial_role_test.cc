// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sampler/purpose.h"

namespace frostline::sampler {
namespace {

LedgerTrial Valued(std::int64_t number, double loss) {
  LedgerTrial trial;
  trial.number = number;
  trial.part = TrialPart::kValued;
  trial.loss = loss;
  return trial;
}

bool RestsAfter(const std::vector<double>& losses) {
  std::vector<LedgerTrial> trials;
  for (const double loss : losses) {
    trials.push_back(Valued(static_cast<std::int64_t>(trials.size()), loss));
  }
  std::vector<const LedgerTrial*> list;
  for (const LedgerTrial& trial : trials) list.push_back(&trial);
  return IsResting(list);
}

TEST(TrialRole, DealsOutItsShareInEveryStretch) {
  for (const double start : {0.0, 0.3, 0.99}) {
    for (int from = 0; from < 500; from += 50) {
      int dealt = 0;
      for (int n = from; n < from + 50; ++n) {
        dealt += IsDealt(n, 0.3, start) ? 1 : 0;
      }
      EXPECT_NEAR(dealt, 15, 1) << start << " from " << from;
    }
  }
}

TEST(TrialRole, ASearchThatGetsOnDoesNotRest) {
  std::vector<double> falling;
  for (int i = 0; i < 100; ++i) falling.push_back(-i);
  EXPECT_FALSE(RestsAfter(falling));
  EXPECT_FALSE(RestsAfter({}));
}

TEST(TrialRole, ASearchRestsWhenTheBestIsLongAgo) {
  std::vector<double> losses(100, 1.0);
  losses[60] = 0.0;
  EXPECT_TRUE(RestsAfter(losses));
  losses[60] = 1.0;
  losses[90] = 0.0;
  EXPECT_FALSE(RestsAfter(losses));
}

TEST(TrialRole, AFewTrialsAreNoRest) {
  EXPECT_FALSE(RestsAfter(std::vector<double>(kRestingTrials, 1.0)));
  EXPECT_TRUE(RestsAfter(std::vector<double>(kRestingTrials + 1, 1.0)));
}

}  // namespace
}  // namespace frostline::sampler
