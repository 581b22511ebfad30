// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/ledger_tally.h"

#include "gtest/gtest.h"

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

}  // namespace
}  // namespace frostline::server
