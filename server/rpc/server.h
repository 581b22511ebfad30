// SPDX-License-Identifier: Apache-2.0
//
// File: server.h
//
// Serves frostline.v1, what KEDA asks, grpc.health.v1 and reflection. It is
// ended in this order:
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
#include "server/auth/access.h"
#include "server/guard/guard.h"
#include "server/metrics/page.h"
#include "server/rpc/connection_acceptor.h"
#include "server/rpc/door_policy.h"
#include "server/rpc/listening_socket.h"
#include "server/rpc/probe_port.h"
#include "server/verbs/verb_table.h"

namespace grpc {
class ServerCredentials;
}  // namespace grpc

namespace frostline::server {

// Sends the log lines of gRPC and Protobuf through base/log.h. What they call
// an error is often a client that left or sent nonsense, so no line is above a
// warning.
//
// Called once, before the first server is made.
void SendLibraryLogsToOurs();

// Sets what gRPC itself refuses before a call reaches us: a slow handshake, too
// many streams, long metadata, large messages, a peer that pings too often, is
// idle or has gone. Who may connect at all is decided by door_policy.h.
void SetLimits(grpc::ServerBuilder* builder);

// A port for probes and scrapes: grpc.health.v1 and `GET /metrics` in
// plaintext, and nothing else, so that it may listen where other machines reach
// it.
//
// Thread-compatible.
class HealthListener {
 public:
  // Begins to listen. The error is REQUEST_INVALID or PORT_BUSY at
  // "health-listen". `measure` fills the pages of scrapes, on a thread of this
  // object.
  static absl::StatusOr<std::unique_ptr<HealthListener>> Listen(
      const std::string& listen, PageMaker::Measure measure);
  ~HealthListener();  // cancels the calls under way
  HealthListener(const HealthListener&) = delete;
  HealthListener& operator=(const HealthListener&) = delete;

  std::string address() const { return FormatAddress(address_); }
  // `service` is a full name; empty: the coordinator.
  void SetServing(const std::string& service, bool serving);
  const DoorCounts& door() const { return acceptor_.counts(); }

 private:
  explicit HealthListener(PageMaker::Measure measure);

  ListenAddress address_;
  // Always empty. gRPC needs a queue on which a thread waits when a server has
  // no service of ours.
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::thread waiter_;
  const SystemClock clock_;
  PageMaker page_maker_;
  ProbePort probe_port_;
  ConnectionAcceptor acceptor_;  // destroyed before the server
};

struct RpcOptions {
  // Where to listen; every address serves the same. Port 0 is any free one.
  std::vector<std::string> listen = {"127.0.0.1:7070"};
  // An address for health and metrics only, without encryption. Empty: there is
  // no such address.
  std::string health_listen;
  // Adds to a page of metrics what the server itself does not count, on a
  // thread of the server. Null: there is no more.
  PageMaker::Measure measure = nullptr;
  // The credentials with which an address is served, unless it is loopback or a
  // Unix socket: those are served in plaintext without "tls:". Null: no other
  // address is served.
  std::shared_ptr<grpc::ServerCredentials> credentials = nullptr;
  // Finds out who calls. It outlives the server. Null: local callers are
  // admins, and there are no others.
  const Gate* gate = nullptr;
  // Is told of calls that the gate refuses. May be null.
  AuditLog* audit = nullptr;
  // Who may connect. The port for health has limits of its own.
  DoorLimits door = {};
};

// The server of the coordinator. Thread-compatible.
class RpcServer {
 public:
  // Checks the addresses as Listen() does, but keeps none: another process may
  // take one meanwhile.
  static absl::Status Check(const RpcOptions& options);
  // Listens and serves at once: what is behind the verbs must have been
  // started, and outlives the server. The error is REQUEST_INVALID,
  // ADDRESS_NOT_LOOPBACK or PORT_BUSY.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Listen(
      const RpcOptions& options, const VerbTable& verbs);
  ~RpcServer();  // without grace
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  std::string address() const;  // of the first: "127.0.0.1:43210"
  const std::vector<std::string>& addresses() const;
  std::string health_address() const;
  // Whether any program of this machine may call in plaintext, of whichever
  // user: over TCP, not over a Unix socket alone.
  bool trusts_local_callers() const;
  // What this edge counts, for another to count in, too.
  CallCounts* counts();
  const std::string& tls_address() const;  // of the first with TLS; or empty

  // Tells health checks NOT_SERVING; calls are still served.
  void StopServing();
  // Takes no new calls, waits for at most `grace`, then cancels. Returns when
  // all calls are answered; a parked call ends only by its reply. Idempotent.
  void Shutdown(Duration grace);

 private:
  class Impl;
  explicit RpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_SERVER_H_
