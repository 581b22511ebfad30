// SPDX-License-Identifier: Apache-2.0
#include "study/history.h"

#include <limits>

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

TEST(History, AReportIsAddedWithoutCopyingTheCurve) {
  constexpr std::int64_t kSteps = 100'000;
  History history;
  history.Put(Seen(0, TrialState::kRunning));
  const std::vector<IntermediateValue>& curve = history.Find(0)->intermediate;
  const IntermediateValue* place = nullptr;
  int moves = 0;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    history.Append(0, {.step = step, .value = 0.5});
    if (curve.data() != place) ++moves;
    place = curve.data();
  }
  history.Amend(
      0, [](Observation& trial) { trial.state = TrialState::kSucceeded; });
  EXPECT_EQ(history.Find(0)->intermediate.data(), place);
  EXPECT_EQ(history.Find(0)->state, TrialState::kSucceeded);
  EXPECT_LT(moves, 40);
  EXPECT_EQ(history.revision(), kSteps + 2);
  EXPECT_EQ(history.CurvesBefore(0), 0u);
}

TEST(History, TakesNoReportOfAnOldStepOrAnUnknownTrial) {
  History history;
  history.Put(Seen(0, TrialState::kRunning));
  history.Append(0, {.step = 3, .value = 0.5});
  history.Append(0, {.step = 3, .value = 0.6});
  history.Append(0, {.step = 2, .value = 0.6});
  history.Append(1, {.step = 4, .value = 0.6});
  history.Amend(1, [](Observation& trial) { trial.number = 7; });
  ASSERT_EQ(history.Find(0)->intermediate.size(), 1u);
  EXPECT_EQ(history.Find(0)->intermediate[0].value, 0.5);
  EXPECT_EQ(history.revision(), 2);
}

TEST(History, CountsCurvesThatBecameOtherOnes) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  History history;
  Observation trial = Seen(0, TrialState::kRunning);
  history.Put(trial);
  trial.intermediate = {{1, kNaN}};
  history.Put(trial);
  trial.intermediate.push_back({2, 0.5});
  history.Put(trial);
  EXPECT_EQ(history.CurvesBefore(0), 0u);  // they became longer
  trial.intermediate[1].value = 0.6;
  history.Put(trial);
  EXPECT_EQ(history.CurvesBefore(0), 1u);
  history.Put(Seen(0, TrialState::kRunning));
  EXPECT_EQ(history.CurvesBefore(0), 2u);
}

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
