// SPDX-License-Identifier: Apache-2.0
//
// File: trial_machine.h
//
// The states of a trial, as pure functions from (row, event, now) to (row,
// attempt, verdict), so that millions of histories can be simulated.
//
// clang-format off
//   QUEUED  --Grant-->   RUNNING, attempt + 1, a new secret
//   RUNNING --Finish-->  SUCCEEDED | PRUNED | INFEASIBLE | CANCELLED,
//                        or QUEUED | FAILED when it failed (FL-5015: FAILED)
//   RUNNING --Lose-->    QUEUED, or FAILED when its attempts are used up
//   RUNNING --Release--> QUEUED, no fault counted
//   QUEUED  --Reinstate-> RUNNING, when a lost attempt speaks again in time
//   QUEUED | RUNNING --Cancel--> CANCELLED
// clang-format on
//
// Each transition has a guard: a condition that must still hold in the
// transaction that writes it.
#ifndef FROSTLINE_SERVER_LEDGER_TRIAL_MACHINE_H_
#define FROSTLINE_SERVER_LEDGER_TRIAL_MACHINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/wire/spec.h"
#include "storage/rows.h"
#include "storage/trial_store.h"

namespace frostline::server {

// A trial that has not ended. `attempt` is the one that holds it, or that held
// it last.
struct OpenTrial {
  storage::TrialRow row;
  storage::AttemptRow attempt;
};

// What a worker shows to prove that it holds a lease.
struct LeaseProof {
  std::int64_t attempt = 0;
  SecretString secret;
};

// What an event changes. `row` is empty when only an attempt's record changes.
struct Transition {
  std::optional<storage::TrialRow> row;
  storage::TrialGuard guard;
  std::vector<storage::AttemptRow> attempts;
};

enum class Verdict { kAccepted, kRequeued, kSuperseded, kCancelled };

// What a finish changes, and what the worker is told.
struct FinishAnswer {
  Verdict verdict = Verdict::kAccepted;
  Transition transition;  // empty when the call is a repetition
};

// Gives a queued trial to a worker. REQUIRES: trial.row.state == kQueued.
Transition Grant(const OpenTrial& trial, const std::string& worker,
                 const std::string& boot_id, const SecretString& secret,
                 WallMicros now);

// Ends a trial with its result. The trial may have ended already, or wait or
// run again, when a lost attempt delivers late. `claimed` is the record of the
// attempt that the proof names, if it is not the newest. The error is
// LEASE_LOST for a wrong secret, an unknown attempt, or one that was handed
// back or has failed.
absl::StatusOr<FinishAnswer> Finish(
    const OpenTrial& trial, const std::optional<storage::AttemptRow>& claimed,
    const LeaseProof& proof, const Result& result, const RetryRules& rules,
    WallMicros now);

// Takes a trial from a worker that sent no heartbeat for a TTL or came back
// with another boot id. REQUIRES: trial.row.state == kRunning.
Transition Lose(const OpenTrial& trial, const std::string& cause,
                const RetryRules& rules, WallMicros now);

// Lets a lost attempt go on when it speaks before anybody has taken its trial;
// the loss is not counted. Returns nothing in every other case.
std::optional<Transition> Reinstate(const OpenTrial& trial,
                                    const LeaseProof& proof);

// Hands a trial back. `how` is kPreempted or kReleased. The error is LEASE_LOST
// unless the proof is of the running attempt. A repetition changes nothing.
absl::StatusOr<Transition> Release(const OpenTrial& trial,
                                   const LeaseProof& proof, AttemptState how,
                                   const std::string& checkpoint,
                                   const std::string& cause, WallMicros now);

// Ends a trial that nobody wants any more. The error is TRIAL_TERMINAL when it
// has ended already.
absl::StatusOr<Transition> Cancel(const OpenTrial& trial,
                                  const std::string& cause, WallMicros now);

// The error is LEASE_LOST, and says why, unless the proof is of the running
// attempt.
absl::Status CheckLease(const storage::TrialRow& row, const LeaseProof& proof);

bool CountsTowardsBudget(storage::TrialOrigin origin);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_TRIAL_MACHINE_H_
