// SPDX-License-Identifier: Apache-2.0
//
// File: trial_machine.h
//
// The lease core: what happens to one trial, as pure functions from (row,
// event, now) to (row, attempt, verdict). No threads, sockets, clocks or
// storage in here, so it can be simulated for millions of histories.
//
// clang-format off
//   QUEUED  --Grant-->   RUNNING, attempt + 1, a new secret
//   RUNNING --Finish-->  SUCCEEDED | PRUNED | INFEASIBLE | CANCELLED,
//                        or QUEUED | FAILED when the attempt failed
//   RUNNING --Lose-->    QUEUED, or FAILED when its attempts are used up
//   RUNNING --Release--> QUEUED, no fault counted
//   QUEUED  --Reinstate-> RUNNING, when a lost attempt speaks again in time
//   QUEUED | RUNNING --Cancel--> CANCELLED
// clang-format on
//
// Every answer says what must still hold in the store for it to happen (the
// guard); the store checks it in the transaction that writes it.
#ifndef FROSTLINE_SERVER_LEDGER_TRIAL_MACHINE_H_
#define FROSTLINE_SERVER_LEDGER_TRIAL_MACHINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/wire/rules.h"
#include "storage/rows.h"
#include "storage/trial_store.h"

namespace frostline::server {

// A trial that has not ended, with the attempt that holds or last held it.
struct OpenTrial {
  storage::TrialRow row;
  storage::AttemptRow attempt;
};

// The fence as a worker shows it.
struct LeaseProof {
  std::int64_t attempt = 0;
  SecretString secret;
};

// What a transition changes: rows to write under a guard. `row` is empty when
// only an attempt's record changes.
struct Transition {
  std::optional<storage::TrialRow> row;
  storage::TrialGuard guard;
  std::vector<storage::AttemptRow> attempts;
};

enum class Verdict { kAccepted, kRequeued, kSuperseded, kCancelled };

struct FinishAnswer {
  Verdict verdict = Verdict::kAccepted;
  Transition transition;  // nothing to write when the request is a repetition
};

// REQUIRES: trial.row.state == kQueued.
Transition Grant(const OpenTrial& trial, const std::string& worker,
                 const std::string& boot_id, const SecretString& secret,
                 WallMicros now);

// `trial` may have ended. `claimed` is the stored record of the attempt that
// proof names, when that is not the trial's newest attempt. LEASE_LOST for a
// wrong secret, an unknown attempt, or one that was handed back.
absl::StatusOr<FinishAnswer> Finish(
    const OpenTrial& trial, const std::optional<storage::AttemptRow>& claimed,
    const LeaseProof& proof, const Result& result, const RetryRules& rules,
    WallMicros now);

// The coordinator's own judgement: no heartbeat for a TTL, or the worker came
// back with another boot id. REQUIRES: trial.row.state == kRunning.
Transition Lose(const OpenTrial& trial, const std::string& cause,
                const RetryRules& rules, WallMicros now);

// A lost attempt speaks again before anybody took its trial: it goes on, and
// the loss is not counted. Nothing when that is not so.
std::optional<Transition> Reinstate(const OpenTrial& trial,
                                    const LeaseProof& proof);

// `how` is kPreempted or kReleased. LEASE_LOST unless the proof is of the
// running attempt.
absl::StatusOr<Transition> Release(const OpenTrial& trial,
                                   const LeaseProof& proof, AttemptState how,
                                   const std::string& checkpoint,
                                   const std::string& cause, WallMicros now);

// TRIAL_TERMINAL when it has ended.
absl::StatusOr<Transition> Cancel(const OpenTrial& trial,
                                  const std::string& cause, WallMicros now);

// OK when the proof is of the running attempt, else LEASE_LOST saying why.
absl::Status CheckLease(const storage::TrialRow& row, const LeaseProof& proof);

// Whether the trial's end counts towards the study's budget.
bool CountsTowardsBudget(storage::TrialOrigin origin);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_TRIAL_MACHINE_H_
