// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/ledger_tally.h"

#include <limits>

#include "frostline/v1/trial.pb.h"
#include "gtest/gtest.h"
#include "server/ledger/study_book.h"

namespace frostline::server {
namespace {

class LedgerTallyTest : public ::testing::Test {
 protected:
  // What becomes of a trial: noted, and on disk.
  void Happens(const Transition& change) {
    tally_.Note(&trial_, change);
    tally_.Committed();
    if (change.row.has_value()) trial_.row = *change.row;
    for (const auto& attempt : change.attempts) {
      if (attempt.attempt == trial_.row.attempt) trial_.attempt = attempt;
    }
  }
  void Grant() {
    Happens(server::Grant(trial_, "w", "boot", SecretString("s"), ++now_));
  }
  LeaseProof Proof() const { return {trial_.row.attempt, SecretString("s")}; }
  FinishAnswer FinishAs(Result::Kind kind) {
    Result result;
    result.kind = kind;
    result.failure = FailureClass::kTrial;
    const auto answer = server::Finish(trial_, trial_.attempt, Proof(), result,
                                       RetryRules(), ++now_);
    return *answer;
  }
  std::int64_t Ended(AttemptState how) const {
    return counts_.attempts_ended[static_cast<std::size_t>(how)].value();
  }
  std::int64_t Ended(TrialState how) const {
    return counts_.trials_ended[static_cast<std::size_t>(how)].value();
  }

  WallMicros now_ = 1;
  OpenTrial trial_;
  LedgerCounts counts_;
  LedgerTally tally_{counts_};
};

TEST_F(LedgerTallyTest, CountsALeaseAndItsResult) {
  Grant();
  Happens(FinishAs(Result::Kind::kSucceeded).transition);
  EXPECT_EQ(counts_.granted.value(), 1);
  EXPECT_EQ(Ended(AttemptState::kCompleted), 1);
  EXPECT_EQ(Ended(TrialState::kSucceeded), 1);
  EXPECT_EQ(counts_.late_accepted.value(), 0);
}

TEST_F(LedgerTallyTest, CountsNothingOfAGroupThatIsUndone) {
  tally_.Note(&trial_,
              server::Grant(trial_, "w", "boot", SecretString("s"), 2));
  tally_.Undone();
  tally_.Committed();
  EXPECT_EQ(counts_.granted.value(), 0);
}

TEST_F(LedgerTallyTest, CountsAFailureThatIsTriedAgain) {
  Grant();
  Happens(FinishAs(Result::Kind::kFailed).transition);
  EXPECT_EQ(Ended(AttemptState::kFailed), 1);
  EXPECT_EQ(counts_.requeued_trial.value(), 1);
  EXPECT_EQ(counts_.requeued_infrastructure.value(), 0);
  EXPECT_EQ(Ended(TrialState::kFailed), 0);
}

TEST_F(LedgerTallyTest, CountsALossAndTheReturnOfWhoWasLost) {
  Grant();
  Happens(Lose(trial_, "silent", RetryRules(), ++now_));
  EXPECT_EQ(Ended(AttemptState::kLost), 1);
  EXPECT_EQ(counts_.requeued_infrastructure.value(), 1);
  Happens(*Reinstate(trial_, Proof()));
  EXPECT_EQ(counts_.reinstated.value(), 1);
  EXPECT_EQ(counts_.granted.value(), 1);
}

TEST_F(LedgerTallyTest, CountsALateResultAsSuchAndTheAttemptOnce) {
  Grant();
  Happens(Lose(trial_, "silent", RetryRules(), ++now_));
  Happens(FinishAs(Result::Kind::kSucceeded).transition);
  EXPECT_EQ(counts_.late_accepted.value(), 1);
  EXPECT_EQ(Ended(AttemptState::kCompleted), 0);
  EXPECT_EQ(Ended(TrialState::kSucceeded), 1);
}

TEST_F(LedgerTallyTest, CountsATrialThatIsHandedBack) {
  Grant();
  Happens(
      *Release(trial_, Proof(), AttemptState::kPreempted, "", "USR1", ++now_));
  EXPECT_EQ(Ended(AttemptState::kPreempted), 1);
  EXPECT_EQ(counts_.requeued_handed_back.value(), 1);
}

TEST_F(LedgerTallyTest, ACheckpointIsNoLease) {
  Grant();
  Transition checkpoint;
  checkpoint.attempts = {trial_.attempt};
  checkpoint.row = trial_.row;
  Happens(checkpoint);
  EXPECT_EQ(counts_.granted.value(), 1);
  EXPECT_EQ(counts_.reinstated.value(), 0);
}

storage::TrialRow RowOf(const v1::Usage& usage) {
  storage::TrialRow row;
  row.usage = usage.SerializeAsString();
  return row;
}

v1::Usage Used(double seconds, double spent, double shared = 0) {
  v1::Usage usage;
  usage.set_train_seconds(seconds / 2);
  usage.set_total_seconds(seconds);
  usage.set_flops_spent(spent);
  usage.set_flops_shared(shared);
  usage.set_prefix_hits(shared > 0 ? 100 : 0);
  return usage;
}

TEST(TrialCost, WhatSharingSavedIsCountedAtTheMeanAndTheFastestSpeed) {
  storage::SummaryRow sum;
  AddCost(RowOf(Used(25, 20e12)), sum);
  AddCost(RowOf(Used(75, 20e12, 60e12)), sum);
  const v1::StudyUsage usage = UsageOf(sum);
  EXPECT_EQ(usage.trials(), 2);
  EXPECT_DOUBLE_EQ(usage.train_seconds(), 50);
  EXPECT_DOUBLE_EQ(usage.flops_spent(), 40e12);
  EXPECT_DOUBLE_EQ(usage.fastest_flops_per_second(), 0.8e12);
  EXPECT_DOUBLE_EQ(usage.without_sharing().least(), 175);
  EXPECT_DOUBLE_EQ(usage.without_sharing().most(), 250);
  EXPECT_FALSE(usage.has_without_freezing());
}

TEST(TrialCost, WhatWasComputedToBeSharedWasNotSaved) {
  storage::SummaryRow sum;
  v1::Usage usage = Used(10, 1e12, 4e12);
  usage.set_prefix_misses(25);  // each row was taken four times
  AddCost(RowOf(usage), sum);
  EXPECT_DOUBLE_EQ(UsageOf(sum).without_sharing().most(), 40);
  usage.set_prefix_misses(75);
  AddCost(RowOf(usage), sum);
  EXPECT_DOUBLE_EQ(UsageOf(sum).without_sharing().most(), 20 * (1 + 2));
  usage.set_prefix_misses(300);
  AddCost(RowOf(usage), sum);
  EXPECT_FALSE(UsageOf(sum).has_without_sharing());
}

TEST(TrialCost, FrozenModulesThatCostWhatTrainedOnesDoCostMoreThanUnshared) {
  storage::SummaryRow sum;
  v1::Usage usage = Used(10, 1e12, 1e12);
  usage.set_flops_skipped(2e12);
  AddCost(RowOf(usage), sum);
  EXPECT_DOUBLE_EQ(UsageOf(sum).without_sharing().most(), 20);
  EXPECT_DOUBLE_EQ(UsageOf(sum).without_freezing().least(), 40);
}

TEST(TrialCost, AResumedTrialCostAtLeastItsTrainingSteps) {
  storage::SummaryRow sum;
  v1::Usage usage = Used(8, 1e12);  // of the last attempt
  usage.set_train_seconds(20);
  AddCost(RowOf(usage), sum);
  EXPECT_DOUBLE_EQ(UsageOf(sum).total_seconds(), 20);
}

TEST(TrialCost, ImportedTrialsAndThoseThatSaidNothingCostNothingHere) {
  storage::SummaryRow sum;
  storage::TrialRow imported = RowOf(Used(10, 1e12));
  imported.origin = storage::TrialOrigin::kImported;
  AddCost(imported, sum);
  AddCost(storage::TrialRow(), sum);
  EXPECT_EQ(UsageOf(sum).trials(), 0);
  EXPECT_EQ(sum.train_us, 0);
}

TEST(TrialCost, NonsenseAddsNothingAndTooMuchStopsAtTheLargestNumber) {
  storage::SummaryRow sum;
  v1::Usage usage = Used(-1, std::numeric_limits<double>::quiet_NaN());
  usage.set_prefix_bytes(-7);
  AddCost(RowOf(usage), sum);
  EXPECT_EQ(sum.costed, 0);
  for (int i = 0; i < 100'000; ++i) AddCost(RowOf(Used(1e300, 1e300)), sum);
  EXPECT_EQ(sum.total_us, std::numeric_limits<std::int64_t>::max());
  const v1::StudyUsage shown = UsageOf(sum);
  EXPECT_GE(shown.total_seconds(), shown.train_seconds());
}

TEST(TrialCost, WithoutFlopsThereIsNoEstimate) {
  storage::SummaryRow sum;
  AddCost(RowOf(Used(10, 0)), sum);
  EXPECT_DOUBLE_EQ(UsageOf(sum).total_seconds(), 10);
  EXPECT_FALSE(UsageOf(sum).has_without_sharing());
  EXPECT_FALSE(UsageOf(sum).has_without_freezing());
}

}  // namespace
}  // namespace frostline::server
