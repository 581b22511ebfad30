// SPDX-License-Identifier: Apache-2.0
#include "study/trial.h"

#include "gtest/gtest.h"

namespace frostline {
namespace {

TEST(Trial, FiveStatesAreTerminal) {
  EXPECT_FALSE(IsTerminal(TrialState::kQueued));
  EXPECT_FALSE(IsTerminal(TrialState::kRunning));
  for (const TrialState state :
       {TrialState::kSucceeded, TrialState::kPruned, TrialState::kInfeasible,
        TrialState::kFailed, TrialState::kCancelled}) {
    EXPECT_TRUE(IsTerminal(state)) << NameOf(state);
  }
}

}  // namespace
}  // namespace frostline
