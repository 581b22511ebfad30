// SPDX-License-Identifier: Apache-2.0
//
// File: outcome.h
//
// How an attempt ended, out of what the trainer said or did: pure functions.
#ifndef FROSTLINE_WORKER_AGENT_OUTCOME_H_
#define FROSTLINE_WORKER_AGENT_OUTCOME_H_

#include <string>

#include "absl/status/status.h"
#include "frostline/v1/worker.pb.h"
#include "worker/agent/protocol.h"

namespace frostline::agent {

// As the trainer says, but for what the coordinator would refuse: a success
// without an objective is the trainer's mistake (FAILED), one with an objective
// that is not finite is INFEASIBLE. "stopped" needs an order, which the caller
// knows; here nobody gave one.
v1::Outcome OutcomeOf(const FinishMessage& finish, const v1::TrialSpec& spec);

// Only what a finish carries besides how it ended.
v1::Outcome DetailsOf(const FinishMessage& finish);

// A trainer that ended, as wait(2) says, before it finished its trial.
// `spoke`: it had written at least one line.
v1::Outcome OutcomeOfExit(int wait_status, bool spoke);

v1::Outcome FailedOutcome(v1::FailureClass failure, const absl::Status& status);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_OUTCOME_H_
