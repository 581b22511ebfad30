// SPDX-License-Identifier: Apache-2.0
//
// File: outcome.h
//
// How an attempt ended: pure functions.
#ifndef FROSTLINE_WORKER_AGENT_OUTCOME_H_
#define FROSTLINE_WORKER_AGENT_OUTCOME_H_

#include <string>

#include "absl/status/status.h"
#include "frostline/v1/worker.pb.h"
#include "worker/agent/protocol.h"

namespace frostline::agent {

// As the trainer says, but a success without an objective is FAILED, one with
// an objective that is not finite INFEASIBLE (the coordinator would refuse it),
// and "stopped" FAILED: here nobody gave an order.
v1::Outcome OutcomeOf(const FinishMessage& finish, const v1::TrialSpec& spec);

// Only what a finish carries besides how it ended.
v1::Outcome DetailsOf(const FinishMessage& finish);

// Of a trainer that ended, as wait(2) says, before its finish. `spoke`: it had
// written a line.
v1::Outcome OutcomeOfExit(int wait_status, bool spoke);

v1::Outcome FailedOutcome(v1::FailureClass failure, const absl::Status& status);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_OUTCOME_H_
