// SPDX-License-Identifier: Apache-2.0
//
// File: health_listener.h
//
// A port for probes and scrapes: grpc.health.v1 and `GET /metrics` in
// plaintext, and nothing else, so that it may be at an address that other
// machines reach.
#ifndef FROSTLINE_SERVER_RPC_HEALTH_LISTENER_H_
#define FROSTLINE_SERVER_RPC_HEALTH_LISTENER_H_

#include <grpcpp/server.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/metrics/scribe.h"
#include "server/rpc/anteroom.h"
#include "server/rpc/doorkeeper.h"
#include "server/rpc/listen_address.h"

namespace frostline::server {

// It is thread-compatible.
class HealthListener {
 public:
  // Answers REQUEST_INVALID or PORT_BUSY at "health-listen". `measure` fills
  // the pages of scrapes, on a thread of the listener's.
  static absl::StatusOr<std::unique_ptr<HealthListener>> Listen(
      const std::string& listen, Scribe::Measure measure);
  ~HealthListener();  // cancels what is under way
  HealthListener(const HealthListener&) = delete;
  HealthListener& operator=(const HealthListener&) = delete;

  std::string address() const { return FormatAddress(address_); }
  // `service` is a full name; empty: the coordinator.
  void SetServing(const std::string& service, bool serving);
  const DoorCounts& door() const { return doorkeeper_.counts(); }

 private:
  explicit HealthListener(Scribe::Measure measure);

  ListenAddress address_;
  // Nothing is ever in the queue: gRPC wants one that a thread waits at where a
  // server has no service of ours.
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::thread waiter_;
  const SystemClock clock_;
  Scribe scribe_;
  Anteroom anteroom_;
  Doorkeeper doorkeeper_;  // ends before the server
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_HEALTH_LISTENER_H_
