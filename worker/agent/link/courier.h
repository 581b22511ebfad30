// SPDX-License-Identifier: Apache-2.0
//
// File: courier.h
//
// Carries what the outboxes hold to the coordinator, each in order, until it is
// answered, in its own thread: no training waits for the network. Endings go
// first, else each outbox has its turn, so that one that has much to say holds
// up no other. While the coordinator is away its pauses grow.
// A report that is refused for good is dropped; an ending with bad metrics
// becomes a failure that says so; any other ending moves to `rejected_folder`.
#ifndef FROSTLINE_WORKER_AGENT_LINK_COURIER_H_
#define FROSTLINE_WORKER_AGENT_LINK_COURIER_H_

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

class Courier {
 public:
  using DirectiveHook = std::function<void(const v1::Directive&)>;
  using FinishHook =
      std::function<void(const v1::FinishRequest&, const v1::FinishReply&)>;

  // `directive` hears what replies to reports say, and of lost leases.
  // `finished` hears the answer to each finish, before its outbox is done; a
  // default one of a finish that was refused for good.
  Courier(RpcClient& client, std::string rejected_folder,
          DirectiveHook directive, FinishHook finished);
  ~Courier();  // stops
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  // Makes one round in the caller's thread, before Start(), and says whether
  // all was taken.
  bool DeliverOnce() { return DeliverAll(); }
  void Start();
  // What is not delivered stays spooled.
  void Stop();
  void Adopt(std::shared_ptr<Outbox> outbox);
  // Something was added to an outbox.
  void Ring();
  // The coordinator has been heard: deliver at once.
  void EndPause();
  bool idle() const;

 private:
  void Loop();
  bool DeliverAll();
  // Returns the one whose front is sent next; null if there is none.
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

#endif  // FROSTLINE_WORKER_AGENT_LINK_COURIER_H_
