// SPDX-License-Identifier: Apache-2.0
//
// File: outcome.h
#ifndef FROSTLINE_WORKER_AGENT_OUTCOME_H_
#define FROSTLINE_WORKER_AGENT_OUTCOME_H_

#include <string>

#include "absl/status/status.h"
#include "frostline/v1/worker.pb.h"
#include "worker/agent/protocol.h"

namespace frostline::agent {

// The trainer's word counts, but a success without an objective is FAILED, one
// with an objective that is not finite INFEASIBLE (the coordinator would refuse
// it), and "stopped" FAILED, as nobody asked.
v1::Outcome OutcomeOf(const FinishMessage& finish, const v1::TrialSpec& spec);

// Holds what a finish carries besides how it ended.
v1::Outcome DetailsOf(const FinishMessage& finish);

// The trainer ended, as wait(2) says, before its finish; it `spoke` if it had
// sent a message other than a log.
v1::Outcome OutcomeOfExit(int wait_status, bool spoke);

v1::Outcome FailedOutcome(v1::FailureClass failure, const absl::Status& status);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_OUTCOME_H_
