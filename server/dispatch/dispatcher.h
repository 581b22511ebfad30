// SPDX-License-Identifier: Apache-2.0
//
// File: dispatcher.h
//
// How queued trials come to waiting workers. Workers wait in a line
// (acquire_line.h). A queued trial goes to a worker that has its frozen prefix
// (fair_share.h), else to the first in line that may take it. Among studies of
// one priority, the one with the least service goes next (fair_share.h). When
// nothing is queued for a worker, samplers are asked: one study's, or other
// studies' too when that one is slow, so that no sampler holds up a worker that
// could run something else. Every parked call is answered exactly once: with
// leases when these are on disk, else with a reason (supply.h).
#ifndef FROSTLINE_SERVER_DISPATCH_DISPATCHER_H_
#define FROSTLINE_SERVER_DISPATCH_DISPATCHER_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/dispatch/acquire_line.h"
#include "server/dispatch/fair_share.h"
#include "server/dispatch/supply.h"
#include "server/ledger/ledger.h"
#include "server/loop/call_context.h"
#include "server/search/proposer.h"

namespace frostline::server {

// The part of the coordinator that decides which worker gets which trial. Only
// the loop's thread uses it.
class Dispatcher {
 public:
  // A function that is told of every call that is answered with leases.
  using Granted = std::function<void(const ParkedAcquire&)>;
  // Borrows all of its arguments.
  Dispatcher(Ledger& ledger, Proposer& proposer, const storage::DiskRoom& disk,
             const Clock& clock, Granted granted = nullptr);

  // Answers within this turn when there is a trial, or when the call does not
  // wait. If the same request waits already, the earlier call is turned away:
  // its caller is gone.
  void Park(Batch& batch, ParkedAcquire parked) FROSTLINE_ON_LOOP;
  // Answers those of the worker's parked calls for which `leaves` holds.
  void TurnAway(Batch& batch, const std::string& worker,
                absl::FunctionRef<bool(const ParkedAcquire&)> leaves)
      FROSTLINE_ON_LOOP;
  // Notes that the worker is known again, perhaps with other labels, models and
  // data.
  void NoteRegistered(const WorkerEntry& worker) FROSTLINE_ON_LOOP {
    line_.Renew(worker);
    line_.Resume(worker.row.id);
  }
  // Forgets the worker and what its node holds.
  void NoteGone(const std::string& worker) FROSTLINE_ON_LOOP {
    affinity_.ForgetNode(worker);
  }
  // Notes that a drained or quarantined worker may have trials again.
  void BackInService(const std::string& worker) FROSTLINE_ON_LOOP {
    line_.Resume(worker);
  }
  // Notes that the worker has this many more free slots and will ask for
  // trials.
  void Expect(const std::string& worker, std::int64_t slots) FROSTLINE_ON_LOOP;
  // Subtracts the trials that such workers will take.
  void TakeOffExpected(std::vector<Unclaimed>& unclaimed) FROSTLINE_ON_LOOP {
    expected_.TakeOff(ledger_, clock_.Steady(), unclaimed);
  }
  // Notes that the trial has stopped running.
  void NoteEnded(TrialKey trial) FROSTLINE_ON_LOOP {
    share_.Ended(trial, clock_.Steady());
  }
  // Takes proposals. Those of an earlier epoch are dropped, the others kept
  // until the store accepts them.
  void TakeProposals(Batch& batch,
                     const Proposals& proposals) FROSTLINE_ON_LOOP;

  // Gives trials to those who wait; then answers those whose study has ended or
  // whose time is over.
  void Turn(Batch& batch) FROSTLINE_ON_LOOP;
  // Answers all who wait; nobody gets a trial any more.
  void Drain(Batch& batch) FROSTLINE_ON_LOOP;
  // Makes earlier proposals worthless because memory was loaded anew: those of
  // all studies, or of these.
  std::int64_t BeginEpoch() FROSTLINE_ON_LOOP;
  std::int64_t BeginEpochOf(const std::set<storage::StudyKey>& studies)
      FROSTLINE_ON_LOOP;

  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP {
    return line_.NextDue();
  }
  std::size_t waiting() const FROSTLINE_ON_LOOP { return line_.size(); }
  std::size_t waiting_workers() const FROSTLINE_ON_LOOP {
    return line_.workers();
  }
  // Return how many supplies and how many places in the line were looked at;
  // tests guard by it what a turn costs.
  std::int64_t looks() const FROSTLINE_ON_LOOP {
    return looks_ + line_.visits();
  }

 private:
  void PauseFailed(Batch& batch, StudyBook& book,
                   const absl::Status& why) FROSTLINE_ON_LOOP;
  void ForgetEndedStudies() FROSTLINE_ON_LOOP;
  void Serve(Batch& batch) FROSTLINE_ON_LOOP;
  std::vector<Supply> LookAtSupplies(SteadyTime now) FROSTLINE_ON_LOOP;
  void NoteHeard(storage::StudyKey study) FROSTLINE_ON_LOOP;
  SamplerPace PaceOf(const StudyBook& book, SteadyTime now) FROSTLINE_ON_LOOP;
  void GiveQueued(Batch& batch, std::vector<Supply>& supplies,
                  SteadyTime now) FROSTLINE_ON_LOOP;
  // Returns the next place in the line for the study whose worker is in
  // service.
  std::optional<Ticket> NextInService(const StudyBook& book,
                                      Ticket after) FROSTLINE_ON_LOOP;
  bool IsInService(Ticket place, const StudyBook& book) FROSTLINE_ON_LOOP;
  static bool IsThere(const ParkedAcquire& parked, SteadyTime now);
  // Returns the place of a worker that has the frozen prefix of the study's
  // next trial.
  std::optional<Ticket> FindHolder(const StudyBook& book,
                                   SteadyTime now) FROSTLINE_ON_LOOP;
  static std::vector<AlikeTrial> AlikeTo(const StudyBook& book,
                                         std::int64_t first);
  // Returns the place of such a worker, else the first place whose caller is
  // still there.
  std::optional<Ticket> FindTaker(Batch& batch, const StudyBook& book,
                                  SteadyTime now) FROSTLINE_ON_LOOP;
  bool GrantNext(Batch& batch, StudyBook& book,
                 ParkedAcquire& parked) FROSTLINE_ON_LOOP;
  void AnswerGranted(Batch& batch, ParkedAcquire parked) FROSTLINE_ON_LOOP;
  void WantForWaiting(std::vector<Supply>& supplies,
                      SteadyTime now) FROSTLINE_ON_LOOP;
  void AskForProposals(std::vector<Supply>& supplies,
                       SteadyTime now) FROSTLINE_ON_LOOP;
  // Says whether the study that a call asks for has ended ("": any study).
  bool WaitsForNothing(const std::string& study) const FROSTLINE_ON_LOOP;
  void AnswerNone(Batch& batch, ParkedAcquire& parked) FROSTLINE_ON_LOOP;
  IdleReason WhyNothingFor(const ParkedAcquire& parked) FROSTLINE_ON_LOOP;

  Ledger& ledger_;
  Proposer& proposer_;
  const storage::DiskRoom& disk_ ABSL_GUARDED_BY(kLoopThread);
  const Clock& clock_;
  const Granted granted_;
  AcquireLine line_ ABSL_GUARDED_BY(kLoopThread);
  ExpectedSlots expected_ ABSL_GUARDED_BY(kLoopThread);
  TeachingLimit teaching_limit_ ABSL_GUARDED_BY(kLoopThread);
  FairShare share_ ABSL_GUARDED_BY(kLoopThread);
  PrefixAffinity affinity_ ABSL_GUARDED_BY(kLoopThread);
  struct Sampler {
    // of its last proposals, or of the request, while it owes some
    SteadyTime heard{};
    SamplerPace pace = SamplerPace::kUnknown;  // as it was last seen
  };
  std::map<storage::StudyKey, Sampler> samplers_ ABSL_GUARDED_BY(kLoopThread);
  SteadyTime next_look_ ABSL_GUARDED_BY(kLoopThread){};
  std::int64_t looks_ ABSL_GUARDED_BY(kLoopThread) = 0;
  std::int64_t epoch_ ABSL_GUARDED_BY(kLoopThread) = 0;
  // The epochs from which proposals count: for all studies, and for single
  // ones.
  std::int64_t all_since_ ABSL_GUARDED_BY(kLoopThread) = 0;
  std::map<storage::StudyKey, std::int64_t> since_ ABSL_GUARDED_BY(kLoopThread);
  // Proposals that came while the store took no writes.
  std::vector<Proposals> kept_ ABSL_GUARDED_BY(kLoopThread);
  bool draining_ ABSL_GUARDED_BY(kLoopThread) = false;
};

StudySupply SupplyOf(const StudyBook& book, TeachingLimit& teaching_limit,
                     WallMicros now);

// Returns the mark by which a request is recognised. It ignores how long the
// call waits and which prefixes the worker holds.
RequestMark MarkOf(v1::AcquireRequest request);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_DISPATCHER_H_
