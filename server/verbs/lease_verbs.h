// SPDX-License-Identifier: Apache-2.0
//
// File: lease_verbs.h
//
// Calls that wait for a trial wait in the dispatcher.
#ifndef FROSTLINE_SERVER_VERBS_LEASE_VERBS_H_
#define FROSTLINE_SERVER_VERBS_LEASE_VERBS_H_

#include <memory>
#include <optional>
#include <vector>

#include "frostline/v1/worker_service.pb.h"
#include "server/auth/access.h"
#include "server/dispatch/dispatcher.h"
#include "server/search/proposer.h"
#include "server/verbs/calls.h"
#include "server/verbs/log_verbs.h"

namespace frostline::server {

// The verbs about leases: Acquire, Heartbeat, Report, Finish and Release.
class LeaseVerbs {
 public:
  LeaseVerbs(Calls& calls, Ledger& ledger, Dispatcher& dispatcher,
             Proposer& proposer, LogVerb& logs,
             const storage::TrialStore& store, const Clock& clock,
             const Credentials& credentials, Duration longest_wait);

  void AddTo(VerbTable& table);

 private:
  void Acquire(CallContext caller, v1::AcquireRequest request,
               Reply<v1::AcquireReply> reply);
  // What the store has of an earlier Acquire with this id.
  struct Earlier {
    LookedUpReply reply;  // of a version that stored replies
    std::vector<storage::AttemptRow> granted;
  };
  absl::Status ParkOrRepeat(Change& change, const CallContext& caller,
                            const v1::AcquireRequest& request,
                            const Earlier& earlier,
                            Reply<v1::AcquireReply>& reply) FROSTLINE_ON_LOOP;
  // Returns the earlier answer; nothing when the request is new.
  absl::StatusOr<std::optional<v1::AcquireReply>> AcquiredBefore(
      const v1::AcquireRequest& request, const Earlier& earlier,
      StoredRows& rows) FROSTLINE_ON_LOOP;
  // Returns the trials that were granted; nothing if none were. The error is
  // REQUEST_ID_REUSED when another worker got them.
  absl::StatusOr<std::optional<v1::AcquireReply>> NamesOf(
      const v1::AcquireRequest& request,
      const std::vector<storage::AttemptRow>& granted) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::Lease> LeaseAgain(const v1::Lease& name,
                                       StoredRows& rows) FROSTLINE_ON_LOOP;

  absl::StatusOr<v1::HeartbeatReply> Heartbeat(
      Change& change, const v1::HeartbeatRequest& request) FROSTLINE_ON_LOOP;
  // The error is WORKER_DENIED when the lease is another worker's, whatever
  // secret was shown. Callers who are no workers are told nothing by it.
  absl::Status CheckHolder(Change& change,
                           const v1::LeaseRef& lease) FROSTLINE_ON_LOOP;
  absl::Status CheckCaller(const CallContext& caller,
                           const std::string& worker) const;
  void NoteProgress(Batch& batch, const v1::LeaseProgress& progress,
                    v1::HeartbeatReply& reply) FROSTLINE_ON_LOOP;
  // Renews a valid lease and returns what its worker has to do.
  v1::Directive Renew(Change& change, const v1::LeaseRef& lease,
                      bool drain) FROSTLINE_ON_LOOP;

  void Report(CallContext caller, v1::ReportRequest request,
              Reply<v1::ReportReply> reply);
  struct Reported {
    TrialKey trial;
    v1::Directive directive;
    bool is_judged = false;  // the study's pruner judges it
  };
  absl::StatusOr<Reported> TakeReport(
      Change& change, const v1::ReportRequest& request) FROSTLINE_ON_LOOP;
  // Answers a report. If the study prunes, the answer has the judgement of this
  // very report.
  void AnswerReport(const Reported& reported,
                    const std::shared_ptr<Reply<v1::ReportReply>>& reply);

  // Notes the precision of the study's first trial, which decides what "auto"
  // means.
  absl::Status NotePrecision(Change& change, StudyBook& book,
                             const std::string& precision) FROSTLINE_ON_LOOP;

  absl::StatusOr<v1::FinishReply> Finish(
      Change& change, const v1::FinishRequest& request) FROSTLINE_ON_LOOP;
  // Writes what a finish changes; the answer's row becomes what is stored.
  absl::Status WriteFinish(Change& change, const v1::FinishRequest& request,
                           const LeasedTrial& leased,
                           const std::vector<storage::MeasurementRow>& rows,
                           FinishAnswer& answer) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::ReleaseReply> Release(
      Change& change, const v1::ReleaseRequest& request) FROSTLINE_ON_LOOP;

  Calls& calls_;
  Ledger& ledger_;
  Dispatcher& dispatcher_;
  Proposer& proposer_;
  LogVerb& logs_;
  const storage::TrialStore& store_;
  const Clock& clock_;
  const Credentials& credentials_;
  const Duration longest_wait_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_LEASE_VERBS_H_
