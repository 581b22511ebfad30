// SPDX-License-Identifier: Apache-2.0
//
// File: doorkeeper.h
//
// Accepts connections in gRPC's place and hands those that may come in over to
// it. gRPC 1.51 itself has no limit on connections, and serves nobody any more
// once it has run out of descriptors (CVE-2023-4785). The decisions are those
// of door_policy.h. Whoever is turned away gets a reset at once, so that
// nothing of the connection stays. The frames of those that are in pass a
// transport_guard.h.
//
// One thread of its own does everything. It never waits for a peer. When
// descriptors have run out it does not spin either: it keeps one in reserve, to
// accept a connection and close it.
#ifndef FROSTLINE_SERVER_RPC_DOORKEEPER_H_
#define FROSTLINE_SERVER_RPC_DOORKEEPER_H_

#include <grpcpp/server_builder.h>

#include <memory>

#include "base/clock.h"
#include "server/rpc/anteroom.h"
#include "server/rpc/door_policy.h"
#include "server/rpc/frame_filter.h"
#include "server/rpc/listening_socket.h"

namespace frostline::server {

struct DoorkeeperOptions {
  DoorLimits door = {};
  ResetLimits resets = {};
  FrameLimits frames = {};
};

// Accepts connections for a gRPC server. Thread-compatible.
class Doorkeeper {
 public:
  // `name` is its name in logs. `clock` outlives it.
  Doorkeeper(const char* name, const DoorkeeperOptions& options,
             const Clock& clock);
  ~Doorkeeper();  // stops
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  enum class Handshake { kNone, kTls };
  // Adds a socket, before `builder` builds: whoever comes to `socket` is served
  // with `credentials`, and makes the handshake that these ask for. Connections
  // pass `anteroom` first, if there is one; it outlives this object.
  void AddDoor(ListeningSocket socket, grpc::ServerBuilder* builder,
               std::shared_ptr<grpc::ServerCredentials> credentials,
               Handshake handshake, Anteroom* anteroom = nullptr);
  // Begins to accept; called when the server has started.
  void Start();
  // Stops accepting; called before the server is shut down. Connections that
  // are in stay. Idempotent.
  void Stop();

  // Any thread may read.
  const DoorCounts& counts() const;

 private:
  class Rounds;
  std::unique_ptr<Rounds> rounds_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_DOORKEEPER_H_
