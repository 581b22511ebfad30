// SPDX-License-Identifier: Apache-2.0
//
// File: lease_keeper.h
//
// Keeps all leases alive with one heartbeat, from a thread that waits for
// nothing else: no training, disk or child makes it late. A log that somebody
// wants rides on a heartbeat sent at once. A coordinator of an earlier version
// asks for logs with its answers; there it follows half a second later.
#ifndef FROSTLINE_WORKER_AGENT_LEASE_KEEPER_H_
#define FROSTLINE_WORKER_AGENT_LEASE_KEEPER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/retry.h"
#include "base/rng.h"
#include "worker/agent/held_lease.h"
#include "worker/agent/rpc_client.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

class LeaseKeeper {
 public:
  struct Hooks {
    std::function<void()> heard;
    // WORKER_UNKNOWN answered a call sent then: register again.
    std::function<void(SteadyTime)> unknown;
    // There is a lease to listen for.
    std::function<void()> holds = nullptr;
    // What the node does, for a coordinator that takes it; it does not block.
    std::function<std::optional<v1::NodeLoad>()> load = nullptr;
    // The coordinator takes how far trials are.
    bool tells_progress = false;
  };

  LeaseKeeper(RpcClient& client, const Clock& clock, std::string worker_name,
              std::string boot_id, Hooks hooks);
  ~LeaseKeeper();  // stops
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // `interval` is what Register answered.
  void Start(Duration interval);
  void Stop();

  // Beats at once if it `hurries` or has a shorter interval than all others.
  void Hold(std::shared_ptr<HeldLease> lease, bool hurries);
  void LetGo(const std::shared_ptr<HeldLease>& lease);
  bool HoldsAny() const;
  // Takes directives that ride on other replies.
  void Obey(const v1::Directive& directive);
  // Takes what the coordinator answered to who listens, or that it does not.
  void NoteWishes(const v1::ListenReply& reply);
  void NoteDeafness();

 private:
  void Loop();
  bool Beat();
  bool TellLess(v1::HeartbeatRequest& request);
  absl::StatusOr<v1::HeartbeatReply> Tell(v1::HeartbeatRequest& request);
  using Leases = std::vector<std::shared_ptr<HeldLease>>;
  v1::HeartbeatRequest NextBeat(const Leases& leases, Leases* tails);
  void NoteAnswer(const v1::HeartbeatReply& reply, const Leases& leases,
                  SteadyTime sent);
  Duration Interval() const;
  Duration UntilNext(bool heard, Backoff& backoff);
  // Waits for the next beat: until then, until a log is due, or until told.
  void Rest(bool heard, Duration until_next);
  std::optional<SteadyTime> NextLogDue() const;
  Leases Held() const;

  RpcClient& client_;
  const Clock& clock_;
  const std::string worker_name_;
  const std::string boot_id_;
  const Hooks hooks_;
  Rng rng_;
  Wakeup wakeup_;
  std::thread thread_;
  std::int64_t sequence_ = 0;  // the thread's alone, as the next one is
  // Until a coordinator does not take it.
  bool tells_load_ = true;
  bool tells_progress_;

  mutable Mutex mutex_;
  Leases leases_ ABSL_GUARDED_BY(mutex_);
  Duration interval_ ABSL_GUARDED_BY(mutex_){};
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool hurries_ ABSL_GUARDED_BY(mutex_) = false;
  // Wishes come by Listen; those of heartbeats' answers are the same.
  bool is_listening_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_LEASE_KEEPER_H_
