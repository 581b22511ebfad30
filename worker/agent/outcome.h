// SPDX-License-Identifier: Apache-2.0
//
// File: outcome.h
#ifndef FROSTLINE_WORKER_AGENT_OUTCOME_H_
#define FROSTLINE_WORKER_AGENT_OUTCOME_H_

#include <deque>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "frostline/v1/worker.pb.h"
#include "worker/agent/process/protocol.h"

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

// Living is not progress: a trainer that hangs in a kernel keeps its process
// and its lease. This policy says when it has been quiet for too long:
//   - before the first step, six times the floor: models are loaded then;
//   - from then on the floor, or ten times the median interval between the
//     newest steps where that is longer.
// Time in which nobody looked, because the node slept or the agent was stopped,
// is not counted. One thread at a time may use it.
class ProgressWatch {
 public:
  // With a `floor` of zero nothing ever hangs.
  ProgressWatch(Duration floor, SteadyTime now);

  // Wants a call every 10 s: of a longer time no more is counted.
  void Look(SteadyTime now);
  void NoteStep(SteadyTime now);
  // Any message but a later step is a sign.
  void NoteSign(SteadyTime now);

  bool hangs() const;
  // Returns "no progress for 614 s; steps took 2.1 s before (suspected hang)".
  std::string Describe() const;
  Duration patience() const;

 private:
  const Duration floor_;
  SteadyTime seen_;
  Duration silence_{};     // since any message
  Duration since_step_{};  // as seen
  bool stepped_ = false;
  std::deque<Duration> intervals_;  // oldest first
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_OUTCOME_H_
