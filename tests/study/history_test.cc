// SPDX-License-Identifier: Apache-2.0
#include "study/history.h"

#include "gtest/gtest.h"

namespace frostline {
namespace {

Observation Seen(std::int64_t number, TrialState state) {
  Observation observation;
  observation.number = number;
  observation.state = state;
  return observation;
}

TEST(History, KeepsTheNewestOfEachTrialAndLogsEveryChange) {
  History history;
  history.Put(Seen(4, TrialState::kRunning));
  history.Put(Seen(0, TrialState::kRunning));
  history.Put(Seen(4, TrialState::kSucceeded));
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history.Find(4)->state, TrialState::kSucceeded);
  EXPECT_EQ(history.Find(1), nullptr);
  EXPECT_EQ(history.changes(), (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(history.revision(), 3);
}

}  // namespace
}  // namespace frostline
