// SPDX-License-Identifier: Apache-2.0
//
// Pruners that compare a trial with others at the same steps, with bounds, or
// with itself.
#include "sampler/pruner/percentile.h"
#include "tests/sampler/pruner/pruner_world.h"

namespace frostline::sampler {
namespace {

bool Judge(const std::string& name, const Options& options,
           const History& history,
           const std::vector<Objective>& objectives = kLoss) {
  return Made(name, options, objectives)->Judge(history, 9).prune;
}

TEST(MedianPruner, StopsWhatIsWorseThanTheMedianAndSaysWhy) {
  History history = FiveTrials();
  const auto pruner = Made("median", {});
  Put(history, 9, TrialState::kRunning, {3.0});
  EXPECT_FALSE(pruner->Judge(history, 9).prune);
  Put(history, 9, TrialState::kRunning, {3.5, 3.1});
  const PruneDecision decision = pruner->Judge(history, 9);
  EXPECT_TRUE(decision.prune);
  EXPECT_EQ(decision.reason,
            "best loss up to step 1 is 3.1, median of 5 trials is 3");
}

TEST(MedianPruner, ATrialsBestValueCountsAndTheDirection) {
  History history = FiveTrials();
  Put(history, 9, TrialState::kRunning, {2.0, 99.0});
  EXPECT_FALSE(Judge("median", {}, history));
  EXPECT_FALSE(Judge("median", {}, history, kAccuracy));
  Put(history, 9, TrialState::kRunning, {2.0, 2.5});
  EXPECT_TRUE(Judge("median", {}, history, kAccuracy));
}

TEST(MedianPruner, WaitsForTrialsStepsAndItsInterval) {
  History history = FiveTrials();
  Put(history, 9, TrialState::kRunning, {9.0, 9.0, 9.0});
  EXPECT_TRUE(Judge("median", {}, history));
  EXPECT_FALSE(Judge("median", {{"startup_trials", "6"}}, history));
  EXPECT_FALSE(Judge("median", {{"min_trials", "6"}}, history));
  EXPECT_FALSE(Judge("median", {{"warmup_steps", "3"}}, history));
  EXPECT_FALSE(Judge("median", {{"interval", "3"}}, history));
  EXPECT_TRUE(Judge("median", {{"interval", "2"}}, history));
  // The interval is counted from the warm-up: steps 1, 3, 5, …
  EXPECT_FALSE(
      Judge("median", {{"warmup_steps", "1"}, {"interval", "2"}}, history));
}

TEST(MedianPruner, NothingButNanIsStoppedAndNanAmongOthersIsPassedOver) {
  History history = FiveTrials();
  Put(history, 9, TrialState::kRunning, {kNaN, kNaN});
  EXPECT_TRUE(Judge("median", {}, history));
  Put(history, 0, TrialState::kSucceeded, {kNaN});
  Put(history, 9, TrialState::kRunning, {3.2});
  EXPECT_FALSE(Judge("median", {}, history));  // the median of 2 … 5 is 3.5
}

TEST(PercentilePruner, KeepsTheShareThatItIsTold) {
  History history = FiveTrials();  // the 40th percentile is 2.6
  Put(history, 9, TrialState::kRunning, {2.6});
  EXPECT_FALSE(Judge("percentile", {{"percentile", "40"}}, history));
  Put(history, 9, TrialState::kRunning, {2.7});
  EXPECT_TRUE(Judge("percentile", {{"percentile", "40"}}, history));
  // The upper 40 percent of accuracies are good enough: those from 3.4.
  Put(history, 9, TrialState::kRunning, {3.3});
  EXPECT_TRUE(Judge("percentile", {{"percentile", "40"}}, history, kAccuracy));
  Put(history, 9, TrialState::kRunning, {3.4});
  EXPECT_FALSE(Judge("percentile", {{"percentile", "40"}}, history, kAccuracy));
}

double PercentileOf(const std::vector<double>& values, double percentile) {
  RunningPercentile running(percentile);
  for (const double value : values) running.Add(value);
  return running.Value();
}

// Rounding decides where a trial is as good as the percentile to the last bit.
TEST(RunningPercentile, IsInterpolatedFromTheNearerEnd) {
  EXPECT_EQ(PercentileOf({0.6, 0.9}, 90), 0.87);
}

TEST(RunningPercentile, IsAValueAtTheEndsAndFiniteBetweenFarOnes) {
  EXPECT_EQ(PercentileOf({3, 1, 2}, 0), 1);
  EXPECT_EQ(PercentileOf({3, 1, 2}, 100), 3);
  EXPECT_EQ(PercentileOf({1e308, -1e308}, 50), 0);
  EXPECT_EQ(PercentileOf({kInfinity, kInfinity}, 50), kInfinity);
}

TEST(ThresholdPruner, StopsOutsideItsBoundsOrAtNan) {
  const Options bounds = {{"lower", "-1"}, {"upper", "2"}};
  for (const double value : {-1.0, 0.5, 2.0}) {
    History history;
    Report(history, 9, 3, value);
    EXPECT_FALSE(Judge("threshold", bounds, history)) << value;
  }
  for (const double value : {-1.01, 2.01, kNaN, kInfinity, -kInfinity}) {
    History history;
    Report(history, 9, 3, value);
    EXPECT_TRUE(Judge("threshold", bounds, history)) << value;
  }
}

TEST(ThresholdPruner, LooksAtTheNewestValueWhenItIsDue) {
  History history;
  Put(history, 9, TrialState::kRunning, {9, 9, 9});
  EXPECT_TRUE(Judge("threshold", {{"upper", "2"}}, history));
  EXPECT_FALSE(
      Judge("threshold", {{"upper", "2"}, {"warmup_steps", "3"}}, history));
  EXPECT_FALSE(
      Judge("threshold", {{"upper", "2"}, {"interval", "3"}}, history));
  Put(history, 9, TrialState::kRunning, {9, 9, 1});
  EXPECT_FALSE(Judge("threshold", {{"upper", "2"}}, history));
}

TEST(PatientPruner, StopsAfterSoManyReportsWithoutABetterOne) {
  History history;
  const Options two = {{"patience", "2"}, {"min_delta", "0.5"}};
  Put(history, 9, TrialState::kRunning, {1, 3, 2});
  EXPECT_FALSE(Judge("patient", two, history));  // nothing before the last 3
  Put(history, 9, TrialState::kRunning, {1, 3, 1.5, 2});
  EXPECT_FALSE(Judge("patient", two, history));  // 1.5 is within min_delta
  Put(history, 9, TrialState::kRunning, {1, 3, 1.6, 2});
  EXPECT_TRUE(Judge("patient", two, history));
  EXPECT_FALSE(Judge("patient", two, history, kAccuracy));
  Put(history, 9, TrialState::kRunning, {kNaN, 3, 1.6, 2});
  EXPECT_FALSE(Judge("patient", two, history));
}

TEST(PatientPruner, AWrappedPrunerMustAgree) {
  History history = FiveTrials();
  const Options wraps = {{"patience", "0"}, {"wraps", "median"}};
  Put(history, 9, TrialState::kRunning, {1, 2});
  EXPECT_FALSE(Judge("patient", wraps, history));  // its best is 1
  Put(history, 9, TrialState::kRunning, {4, 5});
  EXPECT_TRUE(Judge("patient", wraps, history));
  Options later = wraps;
  later["wraps.warmup_steps"] = "2";
  EXPECT_FALSE(Judge("patient", later, history));
}

}  // namespace
}  // namespace frostline::sampler
