// SPDX-License-Identifier: Apache-2.0
//
// File: log_listener.h
//
// Hears at once that somebody wants a log or predictions: one call waits at the
// coordinator while there is a lease, or predictions in the run folder. A
// thread of its own makes it, so that no heartbeat waits for it. Of a
// coordinator that does not know the call it asks once a minute whether it does
// now.
#ifndef FROSTLINE_WORKER_AGENT_LINK_LOG_LISTENER_H_
#define FROSTLINE_WORKER_AGENT_LINK_LOG_LISTENER_H_

#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/rng.h"
#include "frostline/v1/worker_service.pb.h"
#include "worker/agent/link/lease_keeper.h"
#include "worker/agent/link/rpc_client.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// Reads what somebody wishes of the predictions that a trainer wrote
// (base/plain/predictions_file.h). Nothing else of a run folder can be had.

// Whether a trial below DIR/trials/ has any.
bool HasPredictions(const std::string& run_folder);
// Whether an attempt of this trial's folder has.
bool TrialHasPredictions(const std::string& trial_folder);

// Answers what `wish` asks for, without the worker's names. Where the attempt's
// folder has no such file, an earlier attempt's is taken; where there is none,
// the answer says why.
v1::SendPredictionsRequest AnswerWish(const std::string& run_folder,
                                      const v1::PredictionsWish& wish);

class LogListener {
 public:
  // Borrows all of them.
  LogListener(RpcClient& client, const Clock& clock, LeaseKeeper& keeper,
              std::string run_folder, std::string worker_name,
              std::string boot_id);
  ~LogListener() { Stop(); }
  LogListener(const LogListener&) = delete;
  LogListener& operator=(const LogListener&) = delete;

  void Start();
  // Waits for the call under way, which RpcClient::CancelAll() ends.
  void Stop();
  // There is a lease. Any thread may call.
  void Ring() { wakeup_.Ring(); }

 private:
  void Loop();
  void SendPredictions(const v1::ListenReply& wishes);
  // Says how long to wait before the next call.
  Duration ListenOnce();

  RpcClient& client_;
  const Clock& clock_;
  LeaseKeeper& keeper_;
  const std::string run_folder_;
  v1::ListenRequest request_;
  Rng rng_;
  Backoff backoff_;
  Wakeup wakeup_;
  std::thread thread_;
  Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_LINK_LOG_LISTENER_H_
