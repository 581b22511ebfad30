// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/rungs.h"

#include <algorithm>
#include <cmath>

#include "sampler/pruner/percentile.h"
#include "sampler/pruner/wilcoxon.h"
#include "tests/sampler/pruner/pruner_world.h"

namespace frostline::sampler {
namespace {

using testing::ElementsAre;

// Successive halving and hyperband, from rungs to pruners.

// Rungs at steps 1, 2, 4, 8, …; every second trial goes on.
constexpr LadderRules kHalving = {.min_resource = 1, .reduction = 2};
const Options kHalve = {{"min_resource", "1"}, {"reduction_factor", "2"}};

TEST(Ladder, TheBestShareOfThoseWhoCameGoesOn) {
  Ladder ladder(kHalving);
  Climb first, second, third, fourth;
  EXPECT_FALSE(ladder.Enter(1, 5, first).prune);
  EXPECT_TRUE(ladder.Enter(1, 6, second).prune);     // second of 2
  EXPECT_TRUE(ladder.Enter(1, 5.5, third).prune);    // second of 3
  EXPECT_FALSE(ladder.Enter(1, 5.2, fourth).prune);  // second of 4
}

TEST(Ladder, ARungIsJudgedOnceByTheFirstValueFromThereOn) {
  Ladder ladder(kHalving);
  Climb good, bad;
  EXPECT_FALSE(ladder.Enter(0, 9, good).prune);
  EXPECT_THAT(good, ElementsAre());
  EXPECT_FALSE(ladder.Enter(5, 1, good).prune);  // rungs 0, 1 and 2
  EXPECT_THAT(good, ElementsAre(1, 1, 1));
  EXPECT_FALSE(ladder.Enter(7, 99, good).prune);
  EXPECT_TRUE(ladder.Enter(5, 2, bad).prune);
  EXPECT_THAT(bad, ElementsAre(2));
}

TEST(Ladder, NanDoesNotGoOnAndDoesNotCompete) {
  Ladder ladder(kHalving);
  Climb broken, next;
  EXPECT_TRUE(ladder.Enter(1, kNaN, broken).prune);
  EXPECT_THAT(broken, ElementsAre());
  EXPECT_FALSE(ladder.Enter(1, 9, next).prune);
}

TEST(Ladder, BootstrapHoldsBackTheFirst) {
  Ladder ladder({.min_resource = 1, .reduction = 2, .bootstrap_count = 2});
  Climb a, b, c;
  EXPECT_TRUE(ladder.Enter(1, 3, a).prune);
  EXPECT_TRUE(ladder.Enter(1, 2, b).prune);
  EXPECT_FALSE(ladder.Enter(1, 1, c).prune);
}

TEST(Ladder, RungsThatNoStepReachesEndIt) {
  Ladder ladder({.min_resource = 1'000'000'000'000,
                 .reduction = 1'000'000,
                 .early_stopping_rate = 64});
  Climb climb;
  EXPECT_FALSE(
      ladder.Enter(std::numeric_limits<std::int64_t>::max(), 1, climb).prune);
  EXPECT_THAT(climb, ElementsAre());
}

TEST(AshaPruner, StopsOnTheLowestRungWhereATrialIsNotGoodEnough) {
  const auto pruner = Made("asha", kHalve);
  History history;
  Report(history, 0, 1, 0.3);
  EXPECT_FALSE(pruner->Judge(history, 0).prune);
  Report(history, 1, 1, 0.4);
  const PruneDecision decision = pruner->Judge(history, 1);
  EXPECT_TRUE(decision.prune);
  EXPECT_EQ(decision.reason, "not among the best 1 of 2 at step 1, rung 0");
  Report(history, 0, 2, 0.5);  // nobody else came to rung 1
  EXPECT_FALSE(pruner->Judge(history, 0).prune);
}

TEST(AshaPruner, MaximizesAccuracy) {
  const auto pruner = Made("asha", kHalve, kAccuracy);
  History history;
  Report(history, 0, 1, 0.3);
  Report(history, 1, 1, 0.4);
  EXPECT_FALSE(pruner->Judge(history, 1).prune);
  Report(history, 2, 1, 0.2);
  EXPECT_TRUE(pruner->Judge(history, 2).prune);
}

// Several values in one report: the one at the rung counts, not the newest.
TEST(AshaPruner, ATrialThatWasRefusedStaysRefused) {
  const auto pruner = Made("asha", kHalve);
  History history;
  Report(history, 0, 1, 0.3);
  Put(history, 1, TrialState::kRunning, {0.9, 0.9, 0.1, 0.1});
  EXPECT_TRUE(pruner->Judge(history, 1).prune);
  EXPECT_TRUE(pruner->Judge(history, 1).prune);
}

TEST(AshaPruner, AnotherAttemptBeginsAtTheBottom) {
  const auto pruner = Made("asha", kHalve);
  History history;
  Report(history, 0, 1, 0.1);
  Report(history, 1, 1, 0.5);
  EXPECT_TRUE(pruner->Judge(history, 1).prune);
  Put(history, 0, TrialState::kRunning, {});  // its 0.1 is gone
  Put(history, 1, TrialState::kRunning, {});
  EXPECT_FALSE(pruner->Judge(history, 1).prune);
  Report(history, 1, 1, 0.5);
  EXPECT_FALSE(pruner->Judge(history, 1).prune);
}

TEST(AshaPruner, AutoWaitsForASuccessAndThenKeepsItsRungs) {
  const auto pruner = Made("asha", {{"reduction_factor", "2"}});
  History history;
  Report(history, 0, 1, 0.1);
  Report(history, 0, 300, 0.1);
  Report(history, 1, 100, 0.5);
  EXPECT_FALSE(pruner->Judge(history, 1).prune);
  End(history, 0, TrialState::kSucceeded);
  End(history, 1, TrialState::kSucceeded);  // shorter; first rung at step 3
  Report(history, 2, 3, 0.4);
  EXPECT_FALSE(pruner->Judge(history, 2).prune);
  Report(history, 2, 9000, 0.4);
  End(history, 2, TrialState::kSucceeded);
  Report(history, 3, 2, 0.5);
  EXPECT_FALSE(pruner->Judge(history, 3).prune);
  Report(history, 3, 3, 0.5);
  EXPECT_TRUE(pruner->Judge(history, 3).prune);  // not at step 90
}

// Floors of logarithms and shares as Optuna 5 recorded them.
TEST(Brackets, AreDealtInSharesByStudyAndNumber) {
  EXPECT_EQ(CountBrackets(1, 27, 3), 4u);
  EXPECT_EQ(CountBrackets(1, 26, 3), 3u);
  EXPECT_EQ(CountBrackets(5, 5, 3), 1u);
  const auto shares = BracketShares(4, 3);
  EXPECT_THAT(shares, ElementsAre(27, 12, 6, 4));
  EXPECT_THAT(BracketShares(3, 3), ElementsAre(9, 5, 3));
  std::vector<int> dealt(4);
  for (std::int64_t n = 0; n < 4900; ++n) ++dealt[BracketOf("a", n, shares)];
  for (std::size_t b = 0; b < 4; ++b) {
    EXPECT_NEAR(dealt[b], 100.0 * static_cast<double>(shares[b]), 150) << b;
  }
  std::vector<std::size_t> brackets;
  for (std::int64_t n = 0; n < 8; ++n) {
    brackets.push_back(BracketOf("golden_hyperband_sequential", n, shares));
  }
  EXPECT_THAT(brackets, ElementsAre(2, 0, 2, 0, 3, 0, 1, 2));
}

TEST(HyperbandPruner, ATrialCompetesWithinItsBracketOnly) {
  const auto pruner = *MakePruner(
      {.name = "hyperband", .options = {{"max_resource", "27"}}, .study = "a"},
      kLoss);
  const auto shares = BracketShares(4, 3);
  History history;
  std::vector<int> came(4);
  for (std::int64_t n = 0; n < 60; ++n) {
    const std::size_t bracket = BracketOf("a", n, shares);
    std::int64_t step = 1;
    for (std::size_t b = 0; b < bracket; ++b) step *= 3;
    Report(history, n, step - 1, static_cast<double>(n));
    EXPECT_FALSE(pruner->Judge(history, n).prune) << n;
    Report(history, n, step, static_cast<double>(n));
    // Each is worse than all before it: only the first of a bracket goes on.
    EXPECT_EQ(pruner->Judge(history, n).prune, came[bracket]++ > 0) << n;
  }
  EXPECT_GT(*std::min_element(came.begin(), came.end()), 1);
}

class CountingReader final : public ReportReader {
 public:
  void OnReport(const Observation& /*trial*/, std::size_t /*index*/) override {
    ++reports;
  }
  void OnSuccess(const Observation& /*trial*/) override { ++successes; }
  void OnRestart(const Observation& /*trial*/) override { ++restarts; }
  void OnAnew() override { ++anew; }

  int reports = 0, successes = 0, restarts = 0, anew = 0;
};

TEST(ReportLog, TellsEachThingOnceHoweverOftenItIsAsked) {
  CountingReader reader;
  ReportLog log;
  History history;
  for (std::int64_t n = 0; n < 50; ++n) {
    for (std::int64_t step = 0; step < 20; ++step) {
      Report(history, n, step, 0.5);
      log.CatchUp(history, reader);
    }
    End(history, n, TrialState::kSucceeded);
  }
  log.CatchUp(history, reader);
  EXPECT_EQ(reader.reports, 1000);
  EXPECT_EQ(reader.successes, 50);
  EXPECT_EQ(reader.restarts, 0);
  log.CatchUp(History(), reader);
  EXPECT_EQ(reader.anew, 1);
}

// Its reports may be as many as those before, at the same steps.
TEST(ReportLog, AnotherAttemptIsOneHoweverMuchItHasReported) {
  CountingReader reader;
  ReportLog log;
  History history;
  Put(history, 0, TrialState::kRunning, {0.1, 0.2});
  log.CatchUp(history, reader);
  Put(history, 0, TrialState::kRunning, {});
  Put(history, 0, TrialState::kRunning, {0.3, 0.4, 0.5});
  log.CatchUp(history, reader);
  EXPECT_EQ(reader.restarts, 1);
  EXPECT_EQ(reader.reports, 5);
}

// Pruners that compare a trial with others at the same steps, with bounds, or
// with itself.

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

bool JudgeWilcoxon(const Options& options, const History& history,
                   const std::vector<Objective>& objectives = kLoss) {
  return Made("wilcoxon", options, objectives)->Judge(history, 9).prune;
}

TEST(SignedRank, IsExactForFewDifferences) {
  EXPECT_DOUBLE_EQ(SignedRankProbability({1, 2, 3}), 1.0 / 8);
  EXPECT_DOUBLE_EQ(SignedRankProbability({-1, 2, 3}), 2.0 / 8);
  EXPECT_DOUBLE_EQ(SignedRankProbability({-1, -2, -3}), 1.0);
  // With ties: of the sums 0, 2 (twice), 4, half of the larger ones and more.
  EXPECT_DOUBLE_EQ(SignedRankProbability({1, 1}), 1.0 / 4);
  EXPECT_DOUBLE_EQ(SignedRankProbability({1, -1}), 3.0 / 4);
  EXPECT_DOUBLE_EQ(SignedRankProbability({0, 0, 5}), 1.0 / 2);
}

TEST(SignedRank, IsNormalForMany) {
  std::vector<double> differences;
  for (int i = 1; i <= 51; ++i) differences.push_back(i % 3 == 0 ? -i : i);
  // 867 of 1326 to the positive side; deviation sqrt(51 * 52 * 103 / 24).
  const double z = (867.0 - 663.0) / std::sqrt(51.0 * 52.0 * 103.0 / 24.0);
  EXPECT_DOUBLE_EQ(SignedRankProbability(differences),
                   0.5 * std::erfc(z / std::sqrt(2.0)));
  EXPECT_EQ(SignedRankProbability(std::vector<double>(14, 0.0)), 0.5);
}

// The best trial is number 0, with 1 at every of six steps.
History OneGoodTrial() {
  History history;
  Put(history, 0, TrialState::kSucceeded, {1, 1, 1, 1, 1, 1}, {1.0});
  Put(history, 1, TrialState::kSucceeded, {9, 9, 9, 9, 9, 9}, {9.0});
  return history;
}

TEST(WilcoxonPruner, StopsWhatIsWorseOnEnoughOfTheSameSteps) {
  History history = OneGoodTrial();
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2});
  EXPECT_FALSE(JudgeWilcoxon({}, history));  // p is 1/8
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2, 2.3});
  EXPECT_TRUE(JudgeWilcoxon({}, history));  // p is 1/16
  EXPECT_TRUE(JudgeWilcoxon({{"startup_steps", "4"}}, history));
  EXPECT_FALSE(JudgeWilcoxon({{"startup_steps", "5"}}, history));
  EXPECT_FALSE(JudgeWilcoxon({{"p_threshold", "0.05"}}, history));
}

TEST(WilcoxonPruner, KnowsTheDirection) {
  History history = OneGoodTrial();  // of accuracies 9 is best
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2, 2.3});
  EXPECT_TRUE(JudgeWilcoxon({}, history, kAccuracy));
  Put(history, 9, TrialState::kRunning, {9.2, 9.1, 9.3, 9.4});
  EXPECT_FALSE(JudgeWilcoxon({}, history, kAccuracy));
}

TEST(WilcoxonPruner, SparesATrialWhoseMeanIsAsGood) {
  History history;
  Put(history, 0, TrialState::kSucceeded, {1, 1, 1, 1, 99}, {1.0});
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2, 2.3});
  EXPECT_FALSE(JudgeWilcoxon({}, history));
}

TEST(WilcoxonPruner, WhatIsNotFiniteProvesNothing) {
  History history = OneGoodTrial();
  Put(history, 9, TrialState::kRunning, {2, 2.1, kInfinity, 2.3, 2.4});
  EXPECT_FALSE(JudgeWilcoxon({}, history));
  Put(history, 0, TrialState::kSucceeded, {1, 1, kNaN, 1, 1, 1}, {1.0});
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2, 2.3, 2.4});
  EXPECT_FALSE(JudgeWilcoxon({}, history));
}

TEST(WilcoxonPruner, TheBestIsTheBestOfThoseWithinTheConstraints) {
  History history = OneGoodTrial();
  Observation broken = *history.Find(0);
  broken.constraints = {0.5};
  history.Put(broken);
  Put(history, 9, TrialState::kRunning, {2, 2.1, 2.2, 2.3});
  EXPECT_FALSE(JudgeWilcoxon({}, history));  // the other one has 9 everywhere
}

}  // namespace
}  // namespace frostline::sampler
