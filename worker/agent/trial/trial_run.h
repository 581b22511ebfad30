// SPDX-License-Identifier: Apache-2.0
//
// File: trial_run.h
//
// Runs one attempt of a trial on a trainer: what the trainer says becomes
// reports and an ending in the outbox, and orders reach it.
//
//   order                              to the trainer      ends with
//   STOP_PRUNED, STOP_CANCELLED        stop, then signals  Finish of that kind
//   CHECKPOINT_AND_RELEASE, SIGTERM    stop, then signals  Release, checkpoint
//   an orphan for too long             stop, then signals  Release, checkpoint
//   no progress for too long           stop, then signals  Finish: FAILED
//   LEASE_LOST                         SIGKILL             nothing
//
// If a trainer fails because a file is no longer on this node, nobody is to
// blame: the attempt is released, for a worker that has the file.
//
// A graver order replaces another; none is taken back. With the first order the
// grace begins. A trainer that has not ended when it is over gets SIGTERM, then
// SIGKILL. If something of it cannot be killed, the run ends after some seconds
// all the same: pruned or cancelled as ordered, else FAILED because of the
// node.
#ifndef FROSTLINE_WORKER_AGENT_TRIAL_TRIAL_RUN_H_
#define FROSTLINE_WORKER_AGENT_TRIAL_TRIAL_RUN_H_

#include <deque>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "frostline/v1/worker.pb.h"
#include "worker/agent/link/lease_keeper.h"
#include "worker/agent/link/outbox.h"
#include "worker/agent/process/protocol.h"
#include "worker/agent/process/trainer_process.h"
#include "worker/agent/trial/slot_context.h"

namespace frostline::agent {

// Returns the outcome that a trainer's finish says, with three exceptions. A
// success without an objective is FAILED. A success with an objective that is
// not finite is INFEASIBLE, since the coordinator would refuse it. "stopped",
// which nobody asked for, is FAILED.
v1::Outcome OutcomeOf(const FinishMessage& finish, const v1::TrialSpec& spec);

// Returns what a finish says besides how the trial ended.
v1::Outcome DetailsOf(const FinishMessage& finish);

// Returns the last line of a log that says anything, cut.
std::string LastLineOf(const std::string& log);

// Returns the outcome of a trainer that ended before its finish. It `spoke` if
// it had sent any message but a log. Its cause is what it wrote last.
v1::Outcome OutcomeOfExit(int wait_status, bool spoke,
                          const std::string& last_line = "");

v1::Outcome FailedOutcome(v1::FailureClass failure, const absl::Status& status);

// Decides whether a trainer hangs: it has been quiet for too long. A trainer
// that hangs in a GPU kernel would keep its process and its lease. The limit
// is:
//   - before the first step, six times the floor: models are loaded then;
//   - from then on the floor, or ten times the median interval between the
//     newest steps if that is longer.
// Time in which nobody looked, because the node slept or the agent was stopped,
// does not count. One thread at a time may use it.
class ProgressWatch {
 public:
  // With a `floor` of zero no trainer ever hangs.
  ProgressWatch(Duration floor, SteadyTime now);

  // Call it at least every 10 s: between two calls no more than that counts.
  void Look(SteadyTime now);
  void NoteStep(SteadyTime now);
  // Call it for any message that is no later step.
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

// One attempt of a trial, from its start to its ending.
class TrialRun {
 public:
  // Everything outlives the run. `wakeup` is the slot's.
  TrialRun(SlotContext& context, const v1::Lease& lease, HeldLease& held,
           Outbox& outbox, Wakeup& wakeup, LogTail& log);

  // Runs the attempt until its outbox is closed; the trainer may be dead then.
  // Returns false, and leaves the outbox open, if a trainer that had run other
  // trials (`used`) ended before it sent any message but a log: then another
  // trainer may run this attempt.
  bool Run(TrainerProcess& trainer, bool used, const std::string& folder,
           const std::string& checkpoint_path);
  void FailToStart(const absl::Status& status);

  // Says whether the trainer has said finish and can train another trial.
  bool trainer_is_ready() const { return trainer_is_ready_; }
  // Says whether the trainer could not start: pause before the next trial.
  bool could_not_start() const { return could_not_start_; }
  // How the attempt ended; unspecified if it was released or lost.
  v1::Outcome::Kind outcome_kind() const { return outcome_kind_; }
  const std::string& outcome_cause() const { return outcome_cause_; }
  // Returns the newest checkpoint of this attempt, or the one that it began
  // with, or null.
  const v1::Checkpoint* NewestCheckpoint() const;
  // Says whether a trained model is in the attempt's folder.
  bool HasModel() const;
  // Says whether a model, a checkpoint or predictions are there.
  bool LeavesWork() const;

 private:
  // Orders to a trainer, each graver than those before it.
  enum class Order { kNone, kRelease, kHang, kPrune, kCancel };

  void Take(const std::string& line, TrainerProcess& trainer);
  bool TellsPhaseAlone(const ReportMessage& report) const;
  void TakeReport(const ReportMessage& report, TrainerProcess& trainer);
  void TakeCheckpoint(const CheckpointMessage& message);
  void TakeFinish(const FinishMessage& finish);
  void TakeExit(const TrainerProcess& trainer);
  void TakeOverlong(TrainerProcess& trainer);
  void Reject(const absl::Status& mistake, TrainerProcess& trainer);

  void FollowOrders(TrainerProcess& trainer);
  void WatchProgress(TrainerProcess& trainer);
  void Give(Order order, const std::string& reason, TrainerProcess& trainer);
  void ConcludeOrder(v1::Outcome outcome);

  v1::LogPlace PlaceOfLog(std::int64_t end, bool is_kept) const;
  void SendReports();
  // Removes the model if a kept one is better, else writes into the outcome
  // where it is.
  void OfferModel(v1::Outcome& outcome);
  void Finish(v1::Outcome outcome);
  void FinishUnkillable(const TrainerProcess& trainer);
  void Release(const std::string& detail);
  // Returns why the site's hook did not save the checkpoint, or "".
  std::string SaveCheckpoint() const;
  bool LacksStock(const v1::Outcome& outcome) const;
  double Elapsed() const;

  SlotContext& context_;
  const v1::Lease& lease_;
  HeldLease& held_;
  Outbox& outbox_;
  Wakeup& wakeup_;
  LogTail& log_;
  std::int64_t log_seen_ = 0;  // its end at the last look
  const SteadyTime start_;
  ProgressWatch watch_;
  std::string hang_;

  Order order_ = Order::kNone;
  std::string order_reason_;
  SteadyTime order_deadline_{};
  v1::ReleaseRequest::Reason release_reason_ = v1::ReleaseRequest::PREEMPTED;
  bool spoke_ = false;
  bool over_ = false;
  bool trainer_is_ready_ = false;
  bool could_not_start_ = false;
  v1::Outcome::Kind outcome_kind_ = v1::Outcome::KIND_UNSPECIFIED;
  std::string outcome_cause_;

  v1::ReportRequest pending_;
  std::size_t pending_bytes_ = 0;  // of its measurements
  std::int64_t reports_ = 0;
  std::int64_t last_step_ = -1;
  bool has_measured_ = false;  // at last_step_
  std::string folder_;
  v1::Checkpoint checkpoint_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRIAL_TRIAL_RUN_H_
