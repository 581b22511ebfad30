// SPDX-License-Identifier: Apache-2.0
//
// Successive halving and hyperband, from rungs to pruners.
#include "sampler/pruner/rungs.h"

#include <algorithm>

#include "tests/sampler/pruner/pruner_world.h"

namespace frostline::sampler {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace frostline::sampler
