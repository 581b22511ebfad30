// SPDX-License-Identifier: Apache-2.0
//
// File: dispatcher.h
//
// Every parked call is answered exactly once: with leases when these are on
// disk, else with a reason (why_idle.h).
#ifndef FROSTLINE_SERVER_DISPATCH_DISPATCHER_H_
#define FROSTLINE_SERVER_DISPATCH_DISPATCHER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/dispatch/supply.h"
#include "server/dispatch/waiting_room.h"
#include "server/dispatch/why_idle.h"
#include "server/ledger/ledger.h"
#include "server/loop/call_context.h"
#include "server/search/proposer.h"

namespace frostline::server {

struct ParkedAcquire {
  v1::AcquireRequest request;
  std::string worker;  // id
  SteadyTime deadline{};
  CallContext caller;
  Reply<v1::AcquireReply> reply;

  const std::string& Key() const { return worker; }
};

class Dispatcher {
 public:
  // Borrows all of them.
  Dispatcher(Ledger& ledger, Proposer& proposer, const storage::DiskRoom& disk,
             const Clock& clock);

  // Answers in this turn when there is a trial, or no wait. The same request
  // that waits already is turned away: its caller is gone.
  void Park(Batch& batch, ParkedAcquire parked) FROSTLINE_ON_LOOP;
  // Answers those of the worker's parked calls for which `leaves` holds.
  void TurnAway(Batch& batch, const std::string& worker,
                absl::FunctionRef<bool(const ParkedAcquire&)> leaves)
      FROSTLINE_ON_LOOP;
  // The worker has so many more free slots, and will ask for trials.
  void Expect(const std::string& worker, std::int64_t slots) FROSTLINE_ON_LOOP;
  // Drops those of an earlier epoch.
  void TakeProposals(Batch& batch,
                     const Proposals& proposals) FROSTLINE_ON_LOOP;

  // Serves who waits; then those leave whose study has ended or time is over.
  void Turn(Batch& batch) FROSTLINE_ON_LOOP;
  // Answers all who wait; nobody is served any more.
  void Drain(Batch& batch) FROSTLINE_ON_LOOP;
  // Drops earlier proposals from now on, as memory was loaded anew.
  std::int64_t BeginEpoch() FROSTLINE_ON_LOOP;

  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP {
    return parked_.NextDue();
  }
  std::size_t waiting() const FROSTLINE_ON_LOOP { return parked_.size(); }

 private:
  void Serve(Batch& batch) FROSTLINE_ON_LOOP;
  // Says whether `parked` has been answered.
  bool TryServe(Batch& batch, ParkedAcquire& parked,
                std::vector<Supply>& supplies) FROSTLINE_ON_LOOP;
  bool GrantNext(Batch& batch, StudyBook& book, const ParkedAcquire& parked,
                 v1::AcquireReply& reply) FROSTLINE_ON_LOOP;
  void AskForProposals(std::vector<Supply>& supplies) FROSTLINE_ON_LOOP;
  // Says whether the one study it asks for has ended.
  bool WaitsForNothing(const v1::AcquireRequest& request) const
      FROSTLINE_ON_LOOP;
  void AnswerNone(Batch& batch, ParkedAcquire& parked) FROSTLINE_ON_LOOP;
  IdleReason WhyNothingFor(const ParkedAcquire& parked) const FROSTLINE_ON_LOOP;

  Ledger& ledger_;
  Proposer& proposer_;
  const storage::DiskRoom& disk_ ABSL_GUARDED_BY(kLoopThread);
  const Clock& clock_;
  WaitingRoom<ParkedAcquire> parked_ ABSL_GUARDED_BY(kLoopThread);
  ExpectedSlots expected_ ABSL_GUARDED_BY(kLoopThread);
  std::int64_t epoch_ ABSL_GUARDED_BY(kLoopThread) = 0;
  bool draining_ ABSL_GUARDED_BY(kLoopThread) = false;
};

StudySupply SupplyOf(const StudyBook& book, WallMicros now);

// One that waits shorter, or holds other prefixes, is the same request.
RequestMark MarkOf(v1::AcquireRequest request);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_DISPATCHER_H_
