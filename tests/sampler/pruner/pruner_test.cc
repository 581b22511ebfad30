// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/pruner.h"

#include <limits>

#include "tests/support/status_matchers.h"

namespace frostline {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<Objective> kLoss = {{"loss", Direction::kMinimize}};

void Report(History& history, std::int64_t number, TrialState state,
            const std::vector<double>& values, std::int64_t stride = 1) {
  Observation trial;
  trial.number = number;
  trial.state = state;
  for (std::size_t s = 0; s < values.size(); ++s) {
    trial.intermediate.push_back(
        {static_cast<std::int64_t>(s) * stride, values[s]});
  }
  history.Put(trial);
}

// Five trials that succeeded with 1, 2, 3, 4, 5 at every step.
History FiveTrials() {
  History history;
  for (int i = 0; i < 5; ++i) {
    const double value = i + 1.0;
    Report(history, i, TrialState::kSucceeded, {value, value, value, value});
  }
  return history;
}

bool Judge(const std::map<std::string, std::string>& options,
           const History& history,
           const std::vector<Objective>& objectives = kLoss) {
  auto pruner = MakePruner({.name = "median", .options = options}, objectives);
  return (*pruner)->Judge(history, 9).prune;
}

TEST(MedianPruner, StopsWhatIsWorseThanTheMedianAndSaysWhy) {
  History history = FiveTrials();
  ASSERT_OK_AND_ASSIGN(const auto pruner,
                       MakePruner({.name = "median", .options = {}}, kLoss));
  Report(history, 9, TrialState::kRunning, {3.0});
  EXPECT_FALSE(pruner->Judge(history, 9).prune);
  Report(history, 9, TrialState::kRunning, {3.5, 3.1});
  const PruneDecision decision = pruner->Judge(history, 9);
  EXPECT_TRUE(decision.prune);
  EXPECT_EQ(decision.reason,
            "best loss up to step 1 is 3.1, median of 5 trials is 3");
}

TEST(MedianPruner, ATrialsBestValueCountsAndTheDirection) {
  History history = FiveTrials();
  Report(history, 9, TrialState::kRunning, {2.0, 99.0});
  EXPECT_FALSE(Judge({}, history));
  EXPECT_FALSE(Judge({}, history, {{"acc", Direction::kMaximize}}));
  Report(history, 9, TrialState::kRunning, {2.0, 2.5});
  EXPECT_TRUE(Judge({}, history, {{"acc", Direction::kMaximize}}));
}

TEST(MedianPruner, WaitsForTrialsStepsAndItsInterval) {
  History history = FiveTrials();
  Report(history, 9, TrialState::kRunning, {9.0, 9.0, 9.0});
  EXPECT_TRUE(Judge({}, history));
  EXPECT_FALSE(Judge({{"startup_trials", "6"}}, history));
  EXPECT_FALSE(Judge({{"min_trials", "6"}}, history));
  EXPECT_FALSE(Judge({{"warmup_steps", "3"}}, history));
  EXPECT_FALSE(Judge({{"interval", "3"}}, history));
  EXPECT_TRUE(Judge({{"interval", "2"}}, history));
}

TEST(MedianPruner, NothingButNanIsStoppedAndNanAmongOthersIsPassedOver) {
  History history = FiveTrials();
  Report(history, 9, TrialState::kRunning, {kNaN, kNaN});
  EXPECT_TRUE(Judge({}, history));
  Report(history, 0, TrialState::kSucceeded, {kNaN});
  Report(history, 9, TrialState::kRunning, {3.2});
  EXPECT_FALSE(Judge({}, history));  // the median of 2, 3, 4, 5 is 3.5
}

TEST(Pruners, AnEndedUnknownOrSilentTrialIsNeverPruned) {
  for (const std::string& name : PrunerNames()) {
    ASSERT_OK_AND_ASSIGN(const auto pruner,
                         MakePruner({.name = name, .options = {}}, kLoss));
    History history = FiveTrials();
    EXPECT_FALSE(pruner->Judge(history, 9).prune);
    Report(history, 9, TrialState::kRunning, {});
    EXPECT_FALSE(pruner->Judge(history, 9).prune);
    Report(history, 9, TrialState::kFailed, {99.0});
    EXPECT_FALSE(pruner->Judge(history, 9).prune);
  }
}

TEST(Pruners, UnknownNamesAndOptionsAreRefused) {
  EXPECT_THAT(MakePruner({.name = "medain", .options = {}}, kLoss),
              FailsAt(ErrorId::kPrunerInvalid, "pruner.name"));
  EXPECT_THAT(MakePruner({.name = "none", .options = {{"x", "1"}}}, kLoss),
              FailsAt(ErrorId::kPrunerInvalid, "pruner.options.x"));
  EXPECT_THAT(
      MakePruner({.name = "median", .options = {{"interval", "0"}}}, kLoss),
      FailsAt(ErrorId::kPrunerInvalid, "pruner.options.interval"));
}

}  // namespace
}  // namespace frostline
