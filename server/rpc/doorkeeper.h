// SPDX-License-Identifier: Apache-2.0
//
// File: doorkeeper.h
//
// Accepts connections in gRPC's place and hands those that are let in over to
// it: gRPC 1.51 itself has no cap on them, and serves nobody any more once it
// has run out of descriptors (CVE-2023-4785). It does what door_policy.h,
// door_policy.h and door_policy.h say. Whoever is turned away gets a reset
// at once, so that nothing of it stays. Who is in is heard by a
// transport_guard.h.
//
// One thread of its own does everything. It never waits for a peer, nor spins
// where descriptors have run out: it keeps one in reserve, to accept and close
// with.
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

// It is thread-compatible.
class Doorkeeper {
 public:
  // What it says of itself in logs is `name`. `clock` outlives it.
  Doorkeeper(const char* name, const DoorkeeperOptions& options,
             const Clock& clock);
  ~Doorkeeper();  // stops
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  enum class Handshake { kNone, kTls };
  // Before the builder builds: who comes to `socket` is served with
  // `credentials`, which ask for such a handshake. Through `anteroom`, where
  // there is one: it outlives this.
  void AddDoor(ListeningSocket socket, grpc::ServerBuilder* builder,
               std::shared_ptr<grpc::ServerCredentials> credentials,
               Handshake handshake, Anteroom* anteroom = nullptr);
  // Once the server has started.
  void Start();
  // Before the server is shut down. Nobody can connect any more; those who are
  // in stay. It is idempotent.
  void Stop();

  // Any thread may read.
  const DoorCounts& counts() const;

 private:
  class Rounds;
  std::unique_ptr<Rounds> rounds_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_DOORKEEPER_H_
