// SPDX-License-Identifier: Apache-2.0
//
// File: dispatcher.h
//
// Who gets what. Workers wait here in a line (acquire_line.h). Queued trials of
// any study go first, to who has their frozen prefix (fair_share.h), else
// to whoever of those that may take them came first; among
// studies of one priority the one with the least service goes next
// (fair_share.h). For whom nothing is queued samplers are asked: one, or where
// that is slow those of other studies too, so that no sampler holds up a worker
// that could run something else. Every parked call is answered exactly once:
// with leases when these are on disk, else with a reason (supply.h).
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

class Dispatcher {
 public:
  // `granted` is told of every call that is answered with leases.
  using Granted = std::function<void(const ParkedAcquire&)>;
  // Borrows all of them.
  Dispatcher(Ledger& ledger, Proposer& proposer, const storage::DiskRoom& disk,
             const Clock& clock, Granted granted = nullptr);

  // Answers in this turn when there is a trial, or no wait. The same request
  // that waits already is turned away: its caller is gone.
  void Park(Batch& batch, ParkedAcquire parked) FROSTLINE_ON_LOOP;
  // Answers those of the worker's parked calls for which `leaves` holds.
  void TurnAway(Batch& batch, const std::string& worker,
                absl::FunctionRef<bool(const ParkedAcquire&)> leaves)
      FROSTLINE_ON_LOOP;
  // The worker is known again, perhaps with other labels, models and data.
  void NoteRegistered(const WorkerEntry& worker) FROSTLINE_ON_LOOP {
    line_.Renew(worker);
    line_.Resume(worker.row.id);
  }
  // The worker is forgotten, and what its node held.
  void NoteGone(const std::string& worker) FROSTLINE_ON_LOOP {
    affinity_.ForgetNode(worker);
  }
  // A drained or quarantined worker may have trials again.
  void BackInService(const std::string& worker) FROSTLINE_ON_LOOP {
    line_.Resume(worker);
  }
  // The worker has so many more free slots, and will ask for trials.
  void Expect(const std::string& worker, std::int64_t slots) FROSTLINE_ON_LOOP;
  // Takes off trials that such workers will take.
  void TakeOffExpected(std::vector<Unclaimed>& unclaimed) FROSTLINE_ON_LOOP {
    expected_.TakeOff(ledger_, clock_.Steady(), unclaimed);
  }
  // The trial has stopped running.
  void NoteEnded(TrialKey trial) FROSTLINE_ON_LOOP {
    share_.Ended(trial, clock_.Steady());
  }
  // Drops those of an earlier epoch, and keeps the others until the store takes
  // them.
  void TakeProposals(Batch& batch,
                     const Proposals& proposals) FROSTLINE_ON_LOOP;

  // Serves who waits; then those leave whose study has ended or time is over.
  void Turn(Batch& batch) FROSTLINE_ON_LOOP;
  // Answers all who wait; nobody is served any more.
  void Drain(Batch& batch) FROSTLINE_ON_LOOP;
  // Drops earlier proposals from now on, as memory was loaded anew: of all
  // studies, or of these.
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
  // Counts of what was looked at, to guard what a turn costs: supplies, and
  // places in the line.
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
  // Returns the next in line whose worker is in service, for the study.
  std::optional<Ticket> NextInService(const StudyBook& book,
                                      Ticket after) FROSTLINE_ON_LOOP;
  bool IsInService(Ticket place, const StudyBook& book) FROSTLINE_ON_LOOP;
  static bool IsThere(const ParkedAcquire& parked, SteadyTime now);
  // Returns who waits and has the frozen prefix of the study's next trial.
  std::optional<Ticket> FindHolder(const StudyBook& book,
                                   SteadyTime now) FROSTLINE_ON_LOOP;
  static std::vector<AlikeTrial> AlikeTo(const StudyBook& book,
                                         std::int64_t first);
  // Returns that one, else the first of those whose caller is still there.
  std::optional<Ticket> FindTaker(Batch& batch, const StudyBook& book,
                                  SteadyTime now) FROSTLINE_ON_LOOP;
  bool GrantNext(Batch& batch, StudyBook& book,
                 ParkedAcquire& parked) FROSTLINE_ON_LOOP;
  void AnswerGranted(Batch& batch, ParkedAcquire parked) FROSTLINE_ON_LOOP;
  void WantForWaiting(std::vector<Supply>& supplies,
                      SteadyTime now) FROSTLINE_ON_LOOP;
  void AskForProposals(std::vector<Supply>& supplies,
                       SteadyTime now) FROSTLINE_ON_LOOP;
  // Says of a call that asks for this study alone ("": any) that it has ended.
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
  Ramp ramp_ ABSL_GUARDED_BY(kLoopThread);
  FairShare share_ ABSL_GUARDED_BY(kLoopThread);
  PrefixAffinity affinity_ ABSL_GUARDED_BY(kLoopThread);
  struct Sampler {
    SteadyTime heard{};  // while it owes proposals: of the last, or the request
    SamplerPace pace = SamplerPace::kUnknown;  // as it was last
  };
  std::map<storage::StudyKey, Sampler> samplers_ ABSL_GUARDED_BY(kLoopThread);
  SteadyTime next_look_ ABSL_GUARDED_BY(kLoopThread){};
  std::int64_t looks_ ABSL_GUARDED_BY(kLoopThread) = 0;
  std::int64_t epoch_ ABSL_GUARDED_BY(kLoopThread) = 0;
  // Earlier proposals mean nothing: all of them, or those of a study.
  std::int64_t all_since_ ABSL_GUARDED_BY(kLoopThread) = 0;
  std::map<storage::StudyKey, std::int64_t> since_ ABSL_GUARDED_BY(kLoopThread);
  // They came while the store took no writes.
  std::vector<Proposals> kept_ ABSL_GUARDED_BY(kLoopThread);
  bool draining_ ABSL_GUARDED_BY(kLoopThread) = false;
};

StudySupply SupplyOf(const StudyBook& book, Ramp& ramp, WallMicros now);

// One that waits shorter, or holds other prefixes, is the same request.
RequestMark MarkOf(v1::AcquireRequest request);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_DISPATCHER_H_
