// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/trial_machine.h"

#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

constexpr WallMicros kNow = 1'000'000;
const RetryRules kRules;

OpenTrial Queued() {
  OpenTrial trial;
  trial.row.study = 1;
  trial.row.number = 7;
  return trial;
}

// What the store would hold after a transition.
OpenTrial After(OpenTrial trial, const Transition& transition) {
  if (transition.row.has_value()) trial.row = *transition.row;
  for (const storage::AttemptRow& attempt : transition.attempts) {
    if (attempt.attempt == trial.row.attempt) trial.attempt = attempt;
  }
  return trial;
}

OpenTrial Granted(const OpenTrial& trial, const std::string& secret) {
  return After(trial, Grant(trial, "w", "boot", SecretString(secret), kNow));
}

LeaseProof ProofOf(const OpenTrial& trial) {
  return {trial.attempt.attempt, trial.attempt.secret};
}

Result Success(double value) {
  Result result;
  result.values = {value};
  return result;
}

Result Failure(FailureClass failure) {
  Result result;
  result.kind = Result::Kind::kFailed;
  result.failure = failure;
  result.cause = "exit code 1";
  return result;
}

TEST(TrialMachine, AGrantRaisesTheAttemptAndGuardsAgainstASecondOne) {
  const OpenTrial queued = Queued();
  const Transition grant = Grant(queued, "w", "boot", SecretString("s"), kNow);
  EXPECT_EQ(grant.guard.state, TrialState::kQueued);
  EXPECT_EQ(grant.guard.attempt, 0);
  EXPECT_EQ(grant.row->state, TrialState::kRunning);
  EXPECT_EQ(grant.row->attempt, 1);
}

TEST(TrialMachine, AResultOfTheRunningAttemptCounts) {
  const OpenTrial running = Granted(Queued(), "s");
  ASSERT_OK_AND_ASSIGN(
      const FinishAnswer answer,
      Finish(running, {}, ProofOf(running), Success(0.9), kRules, kNow));
  EXPECT_EQ(answer.verdict, Verdict::kAccepted);
  EXPECT_EQ(answer.transition.row->state, TrialState::kSucceeded);
  EXPECT_EQ(answer.transition.row->values, std::vector<double>{0.9});
}

TEST(TrialMachine, ARepeatedResultIsAnsweredAgainAndChangesNothing) {
  const OpenTrial running = Granted(Queued(), "s");
  const auto first =
      *Finish(running, {}, ProofOf(running), Success(0.9), kRules, kNow);
  const OpenTrial ended = After(running, first.transition);
  const auto again =
      *Finish(ended, {}, ProofOf(running), Success(0.9), kRules, kNow);
  EXPECT_EQ(again.verdict, Verdict::kAccepted);
  EXPECT_FALSE(again.transition.row.has_value());
  EXPECT_TRUE(again.transition.attempts.empty());
}

TEST(TrialMachine, AWrongSecretOrAttemptIsRefused) {
  const OpenTrial running = Granted(Queued(), "s");
  EXPECT_THAT(
      Finish(running, {}, {1, SecretString("t")}, Success(1), kRules, kNow),
      FailsWith(ErrorId::kLeaseLost));
  EXPECT_THAT(
      Finish(running, {}, {2, SecretString("s")}, Success(1), kRules, kNow),
      FailsWith(ErrorId::kLeaseLost));
  EXPECT_THAT(CheckLease(running.row, {1, SecretString("t")}),
              FailsWith(ErrorId::kLeaseLost));
}

TEST(TrialMachine, ATrialFaultIsTriedThreeTimesThenFailsWithItsCause) {
  OpenTrial trial = Queued();
  for (int attempt = 1; attempt <= 3; ++attempt) {
    trial = Granted(trial, "s" + std::to_string(attempt));
    const auto answer = *Finish(trial, {}, ProofOf(trial),
                                Failure(FailureClass::kTrial), kRules, kNow);
    trial = After(trial, answer.transition);
    EXPECT_EQ(trial.row.state,
              attempt < 3 ? TrialState::kQueued : TrialState::kFailed);
  }
  EXPECT_THAT(trial.row.cause, ::testing::HasSubstr("exit code 1"));
}

TEST(TrialMachine, ACrashInTheSameWordsIsNotTriedAThirdTime) {
  const auto after = [](const char* first, const char* second) {
    OpenTrial trial = Queued();
    for (const char* const cause : {first, second}) {
      trial = Granted(trial, "s");
      Result result = Failure(FailureClass::kTrial);
      result.cause = cause;
      const auto answer =
          *Finish(trial, {}, ProofOf(trial), result, kRules, kNow);
      trial = After(trial, answer.transition);
    }
    return trial.row;
  };
  const storage::TrialRow alike =
      after("FL-5003: KeyError", "FL-5003: KeyError");
  EXPECT_EQ(alike.state, TrialState::kFailed);
  EXPECT_EQ(alike.cause, "FL-5003: KeyError (2 of 3 attempts, alike)");
  EXPECT_EQ(after("FL-5003: KeyError", "FL-5003: OSError").state,
            TrialState::kQueued);
}

// FL-5015: the study asks for what cannot be, on whatever worker.
TEST(TrialMachine, AFaultOfTheStudyIsTriedOnce) {
  const OpenTrial running = Granted(Queued(), "s");
  Result result = Failure(FailureClass::kTrial);
  result.cause = "FL-5015: the model has no module layer.7 (search layer.0)";
  const auto answer =
      *Finish(running, {}, ProofOf(running), result, kRules, kNow);
  EXPECT_EQ(answer.verdict, Verdict::kAccepted);
  const OpenTrial ended = After(running, answer.transition);
  EXPECT_EQ(ended.row.state, TrialState::kFailed);
  EXPECT_EQ(ended.row.ended, kNow);
  EXPECT_EQ(ended.row.trial_faults, 1);
  EXPECT_EQ(ended.row.cause, result.cause);
}

// Files and devices differ from worker to worker, and words that only contain
// the id are those of a log.
TEST(TrialMachine, WhatAnotherWorkerMayManageIsTriedAgain) {
  const OpenTrial running = Granted(Queued(), "s");
  for (const char* cause :
       {"FL-5013: gpt2 is not imitated (convert it)",
        "FL-5014: its SHA-256 is another (put the file there)",
        "FL-50155: none of ours", "exit code 1 after FL-5015: no"}) {
    Result result = Failure(FailureClass::kTrial);
    result.cause = cause;
    EXPECT_EQ(Finish(running, {}, ProofOf(running), result, kRules, kNow)
                  ->transition.row->state,
              TrialState::kQueued)
        << cause;
  }
  Result node = Failure(FailureClass::kInfrastructure);
  node.cause = "FL-5015: said of a node";
  EXPECT_EQ(Finish(running, {}, ProofOf(running), node, kRules, kNow)
                ->transition.row->state,
            TrialState::kQueued);
}

TEST(TrialMachine, ALossIsNoResultAndAllowedTwentyTimes) {
  OpenTrial trial = Queued();
  for (int attempt = 1; attempt <= 20; ++attempt) {
    trial = Granted(trial, "s" + std::to_string(attempt));
    trial = After(trial, Lose(trial, "no heartbeat", kRules, kNow));
    EXPECT_EQ(trial.attempt.state, AttemptState::kLost);
    EXPECT_EQ(trial.row.state,
              attempt < 20 ? TrialState::kQueued : TrialState::kFailed);
  }
  EXPECT_EQ(trial.row.failure, FailureClass::kInfrastructure);
}

TEST(TrialMachine, ALateResultCountsWhileItIsTheOnlyOne) {
  const OpenTrial first = Granted(Queued(), "s1");
  const OpenTrial lost = After(first, Lose(first, "silent", kRules, kNow));
  const OpenTrial second = Granted(lost, "s2");
  ASSERT_OK_AND_ASSIGN(
      const FinishAnswer late,
      Finish(second, lost.attempt, ProofOf(first), Success(0.9), kRules, kNow));
  EXPECT_EQ(late.verdict, Verdict::kAccepted);
  EXPECT_EQ(late.transition.row->state, TrialState::kSucceeded);
  // The attempt that was running is over, and its result will be superseded.
  const OpenTrial ended = After(second, late.transition);
  EXPECT_EQ(ended.attempt.state, AttemptState::kCancelled);
  ASSERT_OK_AND_ASSIGN(
      const FinishAnswer second_result,
      Finish(ended, {}, ProofOf(second), Success(0.5), kRules, kNow));
  EXPECT_EQ(second_result.verdict, Verdict::kSuperseded);
  EXPECT_FALSE(second_result.transition.row.has_value());
  EXPECT_EQ(second_result.transition.attempts[0].state,
            AttemptState::kSuperseded);
}

TEST(TrialMachine, ALateResultIsKeptAsSupersededWhereOnlyTheNewestMayDeliver) {
  RetryRules newest_only;
  newest_only.accept_late_result = false;
  const OpenTrial first = Granted(Queued(), "s1");
  const OpenTrial lost = After(first, Lose(first, "silent", kRules, kNow));
  const OpenTrial second = Granted(lost, "s2");
  ASSERT_OK_AND_ASSIGN(const FinishAnswer late,
                       Finish(second, lost.attempt, ProofOf(first),
                              Success(0.9), newest_only, kNow));
  EXPECT_EQ(late.verdict, Verdict::kSuperseded);
  EXPECT_FALSE(late.transition.row.has_value());
}

TEST(TrialMachine, ALostAttemptThatSpeaksInTimeGoesOnAsIfNothingHadBeen) {
  const OpenTrial running = Granted(Queued(), "s1");
  const OpenTrial lost = After(running, Lose(running, "silent", kRules, kNow));
  const auto again = Reinstate(lost, ProofOf(running));
  ASSERT_TRUE(again.has_value());
  const OpenTrial going = After(lost, *again);
  EXPECT_EQ(going.row.state, TrialState::kRunning);
  EXPECT_EQ(going.row.infrastructure_faults, 0);
  EXPECT_OK(CheckLease(going.row, ProofOf(running)));
  // Not with another's secret, and not once somebody else has the trial.
  EXPECT_FALSE(Reinstate(lost, {1, SecretString("t")}).has_value());
  EXPECT_FALSE(Reinstate(Granted(lost, "s2"), ProofOf(running)).has_value());
}

TEST(TrialMachine, AReleaseCountsNoFaultAndHandsTheCheckpointOn) {
  const OpenTrial running = Granted(Queued(), "s1");
  ASSERT_OK_AND_ASSIGN(
      const Transition release,
      Release(running, ProofOf(running), AttemptState::kPreempted, "ckpt-5",
              "SIGTERM", kNow));
  const OpenTrial queued = After(running, release);
  EXPECT_EQ(queued.row.state, TrialState::kQueued);
  EXPECT_EQ(queued.row.infrastructure_faults, 0);
  EXPECT_EQ(Granted(queued, "s2").attempt.checkpoint, "ckpt-5");
  // Repeated: nothing to write.
  EXPECT_FALSE(Release(queued, ProofOf(running), AttemptState::kPreempted,
                       "ckpt-5", "SIGTERM", kNow)
                   ->row.has_value());
}

TEST(TrialMachine, ACancelledTrialKeepsItsWorkersResultUncounted) {
  const OpenTrial running = Granted(Queued(), "s");
  const OpenTrial cancelled = After(running, *Cancel(running, "by hand", kNow));
  EXPECT_EQ(cancelled.row.state, TrialState::kCancelled);
  const auto answer =
      *Finish(cancelled, {}, ProofOf(running), Success(0.9), kRules, kNow);
  EXPECT_EQ(answer.verdict, Verdict::kCancelled);
  EXPECT_FALSE(answer.transition.row.has_value());
  EXPECT_THAT(Cancel(cancelled, "again", kNow),
              FailsWith(ErrorId::kTrialTerminal));
}

}  // namespace
}  // namespace frostline::server
