// SPDX-License-Identifier: Apache-2.0
//
// File: lease_keeper.h
//
// Keeps every lease of the agent alive: one heartbeat for all of them, from a
// thread that waits for nothing else, so that no training, disk or child can
// make it late. What the coordinator answers goes to the leases.
//
// The agent judges its leases from the moment it SENT the last heartbeat that
// was answered. When that is longer ago than the TTL the leases are in doubt:
// that is logged and nothing more. Training goes on and the coordinator judges
// the results (design §4.7).
#ifndef FROSTLINE_WORKER_AGENT_LEASE_KEEPER_H_
#define FROSTLINE_WORKER_AGENT_LEASE_KEEPER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "worker/agent/held_lease.h"
#include "worker/agent/rpc_client.h"
#include "worker/agent/wakeup.h"

namespace frostline {

class LeaseKeeper {
 public:
  struct Hooks {
    std::function<void()> heard;  // a heartbeat was answered
    // WORKER_UNKNOWN, to a call sent then: register again.
    std::function<void(SteadyTime)> unknown;
  };

  LeaseKeeper(RpcClient& client, const Clock& clock, std::string worker_name,
              std::string boot_id, Hooks hooks);
  ~LeaseKeeper();  // stops
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // As Register answered.
  void Start(Duration interval, Duration ttl);
  void Stop();

  void Hold(std::shared_ptr<HeldLease> lease);
  void LetGo(const std::shared_ptr<HeldLease>& lease);
  // For directives that ride on the replies of others.
  void Obey(const v1::Directive& directive);
  bool in_doubt() const;

 private:
  void Loop();
  bool Beat();
  void NoteAnswer(const v1::HeartbeatReply& reply, SteadyTime sent);
  Duration Interval() const;
  std::vector<std::shared_ptr<HeldLease>> Leases() const;

  RpcClient& client_;
  const Clock& clock_;
  const std::string worker_name_;
  const std::string boot_id_;
  const Hooks hooks_;
  Rng rng_;
  Wakeup wakeup_;
  std::thread thread_;
  std::int64_t sequence_ = 0;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<HeldLease>> leases_;
  Duration interval_{};
  Duration ttl_{};
  SteadyTime last_renewal_{};
  bool in_doubt_ = false;
  bool stopped_ = false;
};

}  // namespace frostline

#endif  // FROSTLINE_WORKER_AGENT_LEASE_KEEPER_H_
