// SPDX-License-Identifier: Apache-2.0
//
// File: worker_verbs.h
#ifndef FROSTLINE_SERVER_VERBS_WORKER_VERBS_H_
#define FROSTLINE_SERVER_VERBS_WORKER_VERBS_H_

#include "frostline/v1/worker_service.pb.h"
#include "server/auth/gate.h"
#include "server/dispatch/dispatcher.h"
#include "server/verbs/calls.h"
#include "server/verbs/describe.h"

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_WORKER_VERBS_H_
