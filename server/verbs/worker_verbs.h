// SPDX-License-Identifier: Apache-2.0
//
// File: worker_verbs.h
//
// Verbs about workers, and what KEDA asks of how many there should be.
#ifndef FROSTLINE_SERVER_VERBS_WORKER_VERBS_H_
#define FROSTLINE_SERVER_VERBS_WORKER_VERBS_H_

#include <list>
#include <optional>
#include <vector>

#include "frostline/v1/worker_service.pb.h"
#include "grpc/externalscaler/externalscaler.pb.h"
#include "server/auth/access.h"
#include "server/dispatch/dispatcher.h"
#include "server/verbs/calls.h"
#include "server/verbs/describe.h"
#include "server/wire/scaler_query.h"

namespace frostline::server {

// The verbs about workers.
class WorkerVerbs {
 public:
  WorkerVerbs(Calls& calls, Ledger& ledger, Dispatcher& dispatcher,
              const Credentials& credentials, const Clock& clock);

  void AddTo(VerbTable& table);

 private:
  // Removes everything about studies that the caller may not see.
  void Hide(const CallerIdentity& caller,
            WorkerSnapshot& worker) const FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::RegisterReply> Register(
      Change& change, const v1::RegisterRequest& request) FROSTLINE_ON_LOOP;
  absl::StatusOr<v1::Worker> DrainWorker(
      Change& change, const v1::DrainWorkerRequest& request) FROSTLINE_ON_LOOP;
  void ListWorkers(CallContext caller, v1::ListWorkersRequest request,
                   Reply<v1::ListWorkersReply> reply);
  v1::Worker Describe(const WorkerEntry& entry) const FROSTLINE_ON_LOOP;

  Calls& calls_;
  Ledger& ledger_;
  Dispatcher& dispatcher_;
  const Credentials& credentials_;
  const Clock& clock_;
};

// The verbs that KEDA calls: how many trials wait for workers that are not
// there (supply.h), and whether there are any. A stream needs no thread: it
// stands in a list here. The list is looked through after a change, at most
// five times a second, and every few seconds for what changes by itself (a time
// budget, a disk, a caller who has gone).
class ScalerVerbs {
 public:
  ScalerVerbs(Calls& calls, Ledger& ledger, Dispatcher& dispatcher,
              const storage::DiskRoom& disk, const Clock& clock)
      : calls_(calls),
        ledger_(ledger),
        dispatcher_(dispatcher),
        disk_(disk),
        clock_(clock) {}

  void AddTo(VerbTable& table);

  // Called when a group is on disk: answers the streams for which it brings
  // news.
  void Committed() FROSTLINE_ON_LOOP;
  // Ends every stream without an error, so that KEDA comes back soon.
  void Drain(Batch& batch) FROSTLINE_ON_LOOP;
  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP;

 private:
  using Object = externalscaler::ScaledObjectRef;
  using Activity = externalscaler::IsActiveResponse;
  using Activities = std::vector<Activity>;
  struct Parked {
    CallContext caller;
    ScalerQuery query;
    std::optional<bool> last;  // answer
    Reply<Activities> reply;
  };

  // The error is STUDY_NOT_FOUND or STUDY_DENIED for a study that is named, and
  // REQUEST_INVALID when the study asks for labels that the workers would not
  // carry.
  absl::StatusOr<std::vector<const StudyBook*>> Find(
      const CallerIdentity& caller,
      const ScalerQuery& query) const FROSTLINE_ON_LOOP;
  absl::StatusOr<std::int64_t> Count(const CallerIdentity& caller,
                                     const ScalerQuery& query) const
      FROSTLINE_ON_LOOP;
  absl::StatusOr<Activity> IsActive(Change& change,
                                    const Object& object) FROSTLINE_ON_LOOP;
  absl::StatusOr<externalscaler::GetMetricSpecResponse> GetMetricSpec(
      Change& change, const Object& object);
  absl::StatusOr<externalscaler::GetMetricsResponse> GetMetrics(
      Change& change,
      const externalscaler::GetMetricsRequest& request) FROSTLINE_ON_LOOP;

  // Answers when the activity is no longer the `last` one.
  void NextActivity(CallContext caller, const Object& object,
                    std::optional<bool> last, Reply<Activities> reply);
  // Answers the call, or leaves it to be answered later.
  void Look(Parked& parked) const FROSTLINE_ON_LOOP;
  void LookAtAll(std::list<Parked>& streams) const FROSTLINE_ON_LOOP;

  Calls& calls_;
  Ledger& ledger_;
  Dispatcher& dispatcher_;
  const storage::DiskRoom& disk_ ABSL_GUARDED_BY(kLoopThread);
  const Clock& clock_;
  std::list<Parked> arrived_ ABSL_GUARDED_BY(kLoopThread);  // in this group
  std::list<Parked> parked_ ABSL_GUARDED_BY(kLoopThread);
  SteadyTime looked_ ABSL_GUARDED_BY(kLoopThread){};
  SteadyTime next_look_ ABSL_GUARDED_BY(kLoopThread){};
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_WORKER_VERBS_H_
