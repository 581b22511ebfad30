// SPDX-License-Identifier: Apache-2.0
//
// File: log_listener.h
//
// Learns at once that somebody wants a log or predictions. One call waits at
// the coordinator while there is a lease, or predictions in the run folder. A
// thread of its own makes the call, so that no heartbeat waits for it. If the
// coordinator does not know the call, the thread tries again once a minute.
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

// Predictions are files that a trainer wrote (base/plain/predictions_file.h).
// The coordinator can ask for no other file of a run folder.

// Says whether any trial below DIR/trials/ has predictions.
bool HasPredictions(const std::string& run_folder);
// Says whether any attempt in this trial's folder has predictions.
bool TrialHasPredictions(const std::string& trial_folder);

// Returns what `wish` asks for; the caller adds the worker's names. If the
// attempt's folder has no such file, that of an earlier attempt is taken. If
// there is none at all, the answer says why.
v1::SendPredictionsRequest AnswerWish(const std::string& run_folder,
                                      const v1::PredictionsWish& wish);

// The thread that waits for wishes and sends predictions.
class LogListener {
 public:
  // `client`, `clock` and `keeper` outlive it.
  LogListener(RpcClient& client, const Clock& clock, LeaseKeeper& keeper,
              std::string run_folder, std::string worker_name,
              std::string boot_id);
  ~LogListener() { Stop(); }
  LogListener(const LogListener&) = delete;
  LogListener& operator=(const LogListener&) = delete;

  void Start();
  // Waits for the call under way, which RpcClient::CancelAll() ends.
  void Stop();
  // Call it when there is a lease. Any thread may.
  void Ring() { wakeup_.Ring(); }

 private:
  void Loop();
  void SendPredictions(const v1::ListenReply& wishes);
  // Makes one call, and returns how long to wait before the next one.
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
