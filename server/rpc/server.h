// SPDX-License-Identifier: Apache-2.0
//
// File: server.h
//
// Serves frostline.v1, what KEDA asks, grpc.health.v1 and reflection. It ends
// in this order:
//
//   server->StopServing();   // health: NOT_SERVING
//   coordinator.Drain();     // answers what is parked
//   server->Shutdown(std::chrono::seconds(5));
#ifndef FROSTLINE_SERVER_RPC_SERVER_H_
#define FROSTLINE_SERVER_RPC_SERVER_H_

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/audit/audit_log.h"
#include "server/auth/gate.h"
#include "server/metrics/page.h"
#include "server/rpc/anteroom.h"
#include "server/rpc/door_policy.h"
#include "server/rpc/doorkeeper.h"
#include "server/rpc/listening_socket.h"
#include "server/verbs/verb_table.h"

namespace grpc {
class ServerCredentials;
}  // namespace grpc

namespace frostline::server {

// Lines of gRPC and Protobuf go through base/log.h. Their errors are often a
// client that left or sent nonsense, so none is above a warning.
//
// Call it once, before the first server is made.
void SendLibraryLogsToOurs();

// What gRPC itself refuses before a call is ours: a slow handshake, too many
// streams, long metadata, large messages, a peer that pings too often, does
// nothing or is gone. Who may connect at all is said by door_policy.h.
void SetLimits(grpc::ServerBuilder* builder);

// A port for probes and scrapes: grpc.health.v1 and `GET /metrics` in
// plaintext, and nothing else, so that it may be at an address that other
// machines reach.
//
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

struct RpcOptions {
  // Port 0 is any free one. What is at each is the same.
  std::vector<std::string> listen = {"127.0.0.1:7070"};
  // Whoever reaches this asks for health or metrics, without encryption, and
  // for nothing else. Empty: they have no port of their own.
  std::string health_listen;
  // Adds to a page of metrics what the server itself does not count, on a
  // thread of the server's. Null: there is no more.
  Scribe::Measure measure = nullptr;
  // Loopback and Unix sockets are served in plaintext, unless one says "tls:",
  // every other address with these; null: no other is served.
  std::shared_ptr<grpc::ServerCredentials> credentials = nullptr;
  // It says who a caller is, and outlives the server. Null: local callers are
  // admins, and there is no other.
  const Gate* gate = nullptr;
  // It hears of calls that the gate refuses. Null: nobody does.
  AuditLog* audit = nullptr;
  // Who may connect. The port for health has limits of its own.
  DoorLimits door = {};
};

// It is thread-compatible.
class RpcServer {
 public:
  // Judges the addresses as Listen() does, and keeps nothing: another may take
  // one meanwhile.
  static absl::Status Check(const RpcOptions& options);
  // Serves at once: what is behind the verbs must have been started, and
  // outlives the server. It answers REQUEST_INVALID, ADDRESS_NOT_LOOPBACK or
  // PORT_BUSY.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Listen(
      const RpcOptions& options, const VerbTable& verbs);
  ~RpcServer();  // without grace
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  std::string address() const;  // the first: "127.0.0.1:43210"
  const std::vector<std::string>& addresses() const;
  std::string health_address() const;
  const std::string& tls_address() const;  // the first with TLS; or empty

  // Tells health checks so; calls are still served.
  void StopServing();
  // Takes no new calls, waits up to `grace`, then cancels; it returns when all
  // are answered. Parked calls end only by their reply. It is idempotent.
  void Shutdown(Duration grace);

 private:
  class Impl;
  explicit RpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_SERVER_H_
