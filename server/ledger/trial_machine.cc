// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/trial_machine.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::server {
namespace {

absl::Status LeaseLost(const storage::TrialRow& row, const std::string& why) {
  return MakeError(ErrorId::kLeaseLost,
                   absl::StrCat("trial ", row.number, " is ", NameOf(row.state),
                                ", attempt ", row.attempt, ": ", why),
                   "stop this training and acquire another trial", "lease");
}

storage::TrialGuard GuardOf(const storage::TrialRow& row) {
  return storage::TrialGuard{row.state, row.attempt, row.secret};
}

bool HasResult(Result::Kind kind) {
  return kind == Result::Kind::kSucceeded || kind == Result::Kind::kPruned ||
         kind == Result::Kind::kInfeasible;
}

TrialState StateOf(Result::Kind kind) {
  switch (kind) {
    case Result::Kind::kSucceeded:
      return TrialState::kSucceeded;
    case Result::Kind::kPruned:
      return TrialState::kPruned;
    case Result::Kind::kInfeasible:
      return TrialState::kInfeasible;
    case Result::Kind::kFailed:
      return TrialState::kFailed;
    case Result::Kind::kCancelled:
      return TrialState::kCancelled;
  }
  return TrialState::kFailed;
}

// Says whether the trainer blames the study: then every attempt, on any worker,
// would end with the same words.
bool IsFaultOfTheStudy(FailureClass failure, const std::string& cause) {
  return failure == FailureClass::kTrial &&
         absl::StartsWith(
             cause, absl::StrCat(ErrorCode(ErrorId::kTrainerMisuse), ":"));
}

// Says whether an attempt ended in the very words of the one before, as a crash
// does that has nothing to do with the node's moods.
bool IsRepeated(const storage::TrialRow& row, FailureClass failure,
                const std::string& cause) {
  return failure == FailureClass::kTrial && row.failure == failure &&
         absl::StartsWith(cause, "FL-") && row.cause == cause;
}

// Counts the failure and decides between another try and the end.
void CountFault(storage::TrialRow& row, FailureClass failure,
                const std::string& cause, const RetryRules& rules,
                WallMicros now) {
  const bool infrastructure = failure == FailureClass::kInfrastructure;
  int& faults = infrastructure ? row.infrastructure_faults : row.trial_faults;
  const int limit =
      infrastructure ? rules.max_infrastructure_faults : rules.max_trial_faults;
  ++faults;
  const bool repeated = IsRepeated(row, failure, cause);
  row.failure = failure;
  row.cause = cause;
  row.state = TrialState::kQueued;
  const bool of_the_study = IsFaultOfTheStudy(failure, cause);
  if (faults < limit && !of_the_study && !repeated) return;
  row.state = TrialState::kFailed;
  row.ended = now;
  if (of_the_study) return;  // a share of attempts would promise others
  row.cause = absl::StrCat(cause, " (", faults, " of ", limit, " attempts",
                           repeated && faults < limit ? ", alike)" : ")");
}

storage::AttemptRow EndAttempt(storage::AttemptRow attempt, AttemptState how,
                               FailureClass failure, const std::string& cause,
                               const std::string& checkpoint, WallMicros now) {
  attempt.state = how;
  attempt.ended = now;
  attempt.failure = failure;
  attempt.cause = cause;
  // A new checkpoint replaces the old one; none in a message does not mean "no
  // checkpoint".
  if (!checkpoint.empty()) attempt.checkpoint = checkpoint;
  return attempt;
}

// Writes `result` into the trial as its final outcome.
storage::TrialRow Conclude(storage::TrialRow row, const Result& result,
                           WallMicros now) {
  row.state = StateOf(result.kind);
  row.ended = now;
  row.metrics = result.metrics;
  row.values = result.values;
  row.failure = FailureClass::kNone;
  row.cause = result.cause;
  row.usage = result.usage;
  return row;
}

// The newest attempt delivers while it holds the trial.
FinishAnswer FinishRunning(const OpenTrial& trial, const Result& result,
                           const RetryRules& rules, WallMicros now) {
  FinishAnswer answer;
  answer.transition.guard = GuardOf(trial.row);
  if (result.kind == Result::Kind::kFailed) {
    storage::TrialRow row = trial.row;
    CountFault(row, result.failure, result.cause, rules, now);
    row.usage = result.usage;
    answer.verdict = row.state == TrialState::kQueued ? Verdict::kRequeued
                                                      : Verdict::kAccepted;
    answer.transition.attempts = {
        EndAttempt(trial.attempt, AttemptState::kFailed, result.failure,
                   result.cause, result.checkpoint, now)};
    answer.transition.row = std::move(row);
    return answer;
  }
  const bool cancelled = result.kind == Result::Kind::kCancelled;
  answer.verdict = cancelled ? Verdict::kCancelled : Verdict::kAccepted;
  answer.transition.row = Conclude(trial.row, result, now);
  answer.transition.attempts = {EndAttempt(
      trial.attempt,
      cancelled ? AttemptState::kCancelled : AttemptState::kCompleted,
      FailureClass::kNone, result.cause, result.checkpoint, now)};
  return answer;
}

// A lost attempt delivers after all. The GPU hours were real and the spec is
// the same, so whoever delivers first counts.
FinishAnswer AcceptLate(const OpenTrial& trial,
                        const storage::AttemptRow& claimed,
                        const Result& result, WallMicros now) {
  FinishAnswer answer;
  answer.verdict = Verdict::kAccepted;
  answer.transition.guard = GuardOf(trial.row);
  answer.transition.row = Conclude(trial.row, result, now);
  answer.transition.row->worker = claimed.worker;
  if (trial.row.state == TrialState::kRunning) {
    answer.transition.attempts.push_back(EndAttempt(
        trial.attempt, AttemptState::kCancelled, FailureClass::kNone,
        absl::StrCat("attempt ", claimed.attempt, " delivered late"), "", now));
  }
  answer.transition.attempts.push_back(
      EndAttempt(claimed, AttemptState::kCompleted, FailureClass::kNone,
                 result.cause, result.checkpoint, now));
  return answer;
}

// Keeps the result with its attempt: it is never counted and never dropped.
FinishAnswer KeepSuperseded(const OpenTrial& trial,
                            const storage::AttemptRow& claimed,
                            const Result& result, WallMicros now) {
  FinishAnswer answer;
  answer.verdict = trial.row.state == TrialState::kCancelled
                       ? Verdict::kCancelled
                       : Verdict::kSuperseded;
  if (claimed.state == AttemptState::kSuperseded) return answer;  // repeated
  storage::AttemptRow kept =
      EndAttempt(claimed, AttemptState::kSuperseded, FailureClass::kNone,
                 result.cause, result.checkpoint, now);
  kept.outcome = result.outcome;
  answer.transition.attempts = {std::move(kept)};
  return answer;
}

// The attempt is no longer the running one: it ended, or the trial did.
absl::StatusOr<FinishAnswer> FinishLate(const OpenTrial& trial,
                                        const storage::AttemptRow& claimed,
                                        const Result& result,
                                        const RetryRules& rules,
                                        WallMicros now) {
  const bool trial_ended = IsTerminal(trial.row.state);
  if (claimed.state == AttemptState::kCompleted) return FinishAnswer{};
  if (claimed.state == AttemptState::kFailed &&
      result.kind == Result::Kind::kFailed) {
    FinishAnswer repeated;
    repeated.verdict = trial_ended ? Verdict::kAccepted : Verdict::kRequeued;
    return repeated;
  }
  if (claimed.state == AttemptState::kReleased ||
      claimed.state == AttemptState::kPreempted ||
      claimed.state == AttemptState::kFailed) {
    return LeaseLost(trial.row, absl::StrCat("attempt ", claimed.attempt,
                                             " was ", NameOf(claimed.state)));
  }
  if (!HasResult(result.kind)) {
    // The loss was counted when the lease ran out; a late failure adds nothing.
    FinishAnswer nothing;
    nothing.verdict = trial_ended ? Verdict::kSuperseded : Verdict::kRequeued;
    return nothing;
  }
  const bool newest = claimed.attempt == trial.row.attempt;
  if (!trial_ended && (newest || rules.accept_late_result)) {
    return AcceptLate(trial, claimed, result, now);
  }
  return KeepSuperseded(trial, claimed, result, now);
}

}  // namespace

Transition Grant(const OpenTrial& trial, const std::string& worker,
                 const std::string& boot_id, const SecretString& secret,
                 WallMicros now) {
  Transition transition;
  transition.guard =
      storage::TrialGuard{TrialState::kQueued, trial.row.attempt, std::nullopt};
  storage::TrialRow row = trial.row;
  row.state = TrialState::kRunning;
  row.attempt = trial.row.attempt + 1;
  row.secret = secret;
  row.worker = worker;
  row.started = now;
  row.last_step = -1;
  storage::AttemptRow attempt;
  attempt.study = row.study;
  attempt.number = row.number;
  attempt.attempt = row.attempt;
  attempt.secret = secret;
  attempt.worker = worker;
  attempt.boot_id = boot_id;
  attempt.started = now;
  // The next attempt goes on from here if this one leaves nothing newer.
  attempt.checkpoint = trial.attempt.checkpoint;
  transition.row = std::move(row);
  transition.attempts = {std::move(attempt)};
  return transition;
}

absl::StatusOr<FinishAnswer> Finish(
    const OpenTrial& trial, const std::optional<storage::AttemptRow>& claimed,
    const LeaseProof& proof, const Result& result, const RetryRules& rules,
    WallMicros now) {
  const bool newest = proof.attempt == trial.row.attempt;
  if (!newest && !claimed.has_value()) {
    return LeaseLost(trial.row,
                     absl::StrCat("there is no attempt ", proof.attempt));
  }
  const storage::AttemptRow& attempt = newest ? trial.attempt : *claimed;
  if (attempt.attempt != proof.attempt || !(attempt.secret == proof.secret)) {
    return LeaseLost(trial.row, "the lease secret is of another attempt");
  }
  if (newest && trial.row.state == TrialState::kRunning) {
    return FinishRunning(trial, result, rules, now);
  }
  return FinishLate(trial, attempt, result, rules, now);
}

Transition Lose(const OpenTrial& trial, const std::string& cause,
                const RetryRules& rules, WallMicros now) {
  Transition transition;
  transition.guard = GuardOf(trial.row);
  storage::TrialRow row = trial.row;
  CountFault(row, FailureClass::kInfrastructure, cause, rules, now);
  transition.row = std::move(row);
  transition.attempts = {EndAttempt(trial.attempt, AttemptState::kLost,
                                    FailureClass::kInfrastructure, cause, "",
                                    now)};
  return transition;
}

std::optional<Transition> Reinstate(const OpenTrial& trial,
                                    const LeaseProof& proof) {
  const bool waits = trial.row.state == TrialState::kQueued &&
                     trial.attempt.state == AttemptState::kLost;
  const bool proven = trial.row.attempt == proof.attempt &&
                      trial.attempt.attempt == proof.attempt &&
                      trial.attempt.secret == proof.secret;
  if (!waits || !proven) return std::nullopt;
  Transition transition;
  transition.guard = GuardOf(trial.row);
  storage::TrialRow row = trial.row;
  row.state = TrialState::kRunning;
  row.failure = FailureClass::kNone;
  row.cause.clear();
  --row.infrastructure_faults;
  transition.row = std::move(row);
  storage::AttemptRow attempt = trial.attempt;
  attempt.state = AttemptState::kRunning;
  attempt.ended = 0;
  attempt.failure = FailureClass::kNone;
  attempt.cause.clear();
  transition.attempts = {std::move(attempt)};
  return transition;
}

absl::StatusOr<Transition> Release(const OpenTrial& trial,
                                   const LeaseProof& proof, AttemptState how,
                                   const std::string& checkpoint,
                                   const std::string& cause, WallMicros now) {
  const bool repeated = trial.row.attempt == proof.attempt &&
                        trial.attempt.secret == proof.secret &&
                        trial.row.state == TrialState::kQueued &&
                        trial.attempt.state == how;
  if (repeated) return Transition{};
  RETURN_IF_ERROR(CheckLease(trial.row, proof));
  Transition transition;
  transition.guard = GuardOf(trial.row);
  storage::TrialRow row = trial.row;
  row.state = TrialState::kQueued;
  row.cause = cause;
  transition.row = std::move(row);
  transition.attempts = {EndAttempt(trial.attempt, how, FailureClass::kNone,
                                    cause, checkpoint, now)};
  return transition;
}

absl::StatusOr<Transition> Cancel(const OpenTrial& trial,
                                  const std::string& cause, WallMicros now) {
  if (IsTerminal(trial.row.state)) {
    return MakeError(ErrorId::kTrialTerminal,
                     absl::StrCat("trial ", trial.row.number, " is ",
                                  NameOf(trial.row.state), " already"),
                     "nothing is left to cancel", "name");
  }
  Transition transition;
  transition.guard =
      storage::TrialGuard{trial.row.state, trial.row.attempt, std::nullopt};
  if (trial.row.state == TrialState::kRunning) {
    transition.attempts = {EndAttempt(trial.attempt, AttemptState::kCancelled,
                                      FailureClass::kNone, cause, "", now)};
  }
  storage::TrialRow row = trial.row;
  row.state = TrialState::kCancelled;
  row.ended = now;
  row.cause = cause;
  transition.row = std::move(row);
  return transition;
}

absl::Status CheckLease(const storage::TrialRow& row, const LeaseProof& proof) {
  if (row.attempt != proof.attempt) {
    return LeaseLost(
        row, absl::StrCat("attempt ", proof.attempt, " is not the newest"));
  }
  if (!(row.secret == proof.secret)) {
    return LeaseLost(row, "the lease secret is of another attempt");
  }
  if (row.state != TrialState::kRunning) {
    return LeaseLost(row, "the attempt has ended");
  }
  return absl::OkStatus();
}

bool CountsTowardsBudget(storage::TrialOrigin origin) {
  return origin == storage::TrialOrigin::kSampled ||
         origin == storage::TrialOrigin::kEnqueued;
}

}  // namespace frostline::server
