// SPDX-License-Identifier: Apache-2.0
//
// File: deliverer.h
//
// Delivers what the outboxes hold to the coordinator, in its own thread, so
// that no training waits for the network. It sends each outbox's records in
// order, and repeats each until it is answered. Endings go first; otherwise the
// outboxes take turns, so that a long one delays no other. While the
// coordinator is away the pauses between tries grow.
//
// What the coordinator refuses for good: a report is dropped; an ending with
// bad metrics becomes a failure that says so; any other ending moves to
// `rejected_folder`.
#ifndef FROSTLINE_WORKER_AGENT_LINK_DELIVERER_H_
#define FROSTLINE_WORKER_AGENT_LINK_DELIVERER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "worker/agent/link/outbox.h"
#include "worker/agent/link/rpc_client.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// The thread that delivers the outboxes.
class Deliverer {
 public:
  using DirectiveHook = std::function<void(const v1::Directive&)>;
  using FinishHook =
      std::function<void(const v1::FinishRequest&, const v1::FinishReply&)>;

  // Calls `directive` with what replies to reports order, and for a lost lease.
  // Calls `finished` with the answer to each finish, before its outbox is done;
  // for a finish that was refused for good the answer is a default one.
  Deliverer(RpcClient& client, std::string rejected_folder,
            DirectiveHook directive, FinishHook finished);
  ~Deliverer();  // stops
  Deliverer(const Deliverer&) = delete;
  Deliverer& operator=(const Deliverer&) = delete;

  // Makes one round in the caller's thread, before Start(). Returns whether the
  // coordinator took everything.
  bool DeliverOnce() { return DeliverAll(); }
  void Start();
  // Ends the thread. What is not delivered yet stays in the spool.
  void Stop();
  void Adopt(std::shared_ptr<Outbox> outbox);
  // Call it when something was added to an outbox.
  void Ring();
  // The coordinator has been heard: deliver at once.
  void EndPause();
  bool idle() const;

 private:
  void Loop();
  bool DeliverAll();
  // Returns the outbox whose front is sent next; null if there is none.
  std::shared_ptr<Outbox> Next(const std::set<const Outbox*>& failed);
  bool Deliver(Outbox& outbox);
  absl::Status Send(Outbox& outbox, const SpoolRecord& record);
  void Settle(Outbox& outbox, const SpoolRecord& record,
              const absl::Status& refusal);

  RpcClient& client_;
  const std::string rejected_folder_;
  const DirectiveHook directive_;
  const FinishHook finished_;
  Wakeup wakeup_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> pause_is_over_{false};
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<Outbox>> outboxes_ ABSL_GUARDED_BY(mutex_);
  std::size_t turn_ ABSL_GUARDED_BY(mutex_) = 0;  // whose it was last
  std::thread thread_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_LINK_DELIVERER_H_
