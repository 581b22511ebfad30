// SPDX-License-Identifier: Apache-2.0
//
// File: connection_acceptor.h
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
#ifndef FROSTLINE_SERVER_RPC_CONNECTION_ACCEPTOR_H_
#define FROSTLINE_SERVER_RPC_CONNECTION_ACCEPTOR_H_

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "server/rpc/door_policy.h"
#include "server/rpc/frame_filter.h"
#include "server/rpc/listening_socket.h"
#include "server/rpc/probe_port.h"

namespace frostline::server {

// Remembers the connections that are in. gRPC owns and closes their sockets, so
// each is remembered by its descriptor and inode: when the descriptor has
// another inode, or none, the connection has gone. So a connection needs no
// second descriptor.

// A connection that was handed to gRPC.
struct Connection {
  int fd = -1;  // gRPC owns it
  ino_t inode = 0;
  PeerAddress from;
  SteadyTime since{};
  std::uint64_t bytes_seen = 0;  // received from it when last asked
};

// The connections that gRPC serves. Thread-compatible.
class ConnectionBook {
 public:
  // Adds a connection, before gRPC gets the socket. Returns the one that had
  // this descriptor before, which has gone.
  std::optional<Connection> Add(int fd, PeerAddress from, SteadyTime now);

  // Removes and returns the connections that have gone.
  std::vector<Connection> Sweep();

  // Returns the connections that have sent at least `bytes` since they were
  // last asked.
  std::vector<Connection> SentAtLeast(std::uint64_t bytes);

  // Returns the connections that began before `since`.
  std::vector<Connection> Before(SteadyTime since) const;

  // Ends the connection with a reset; unread bytes are dropped, and gRPC then
  // closes it. Does nothing when the connection has already gone, even if its
  // descriptor is in use again.
  static void Shut(const Connection& connection);

  std::size_t size() const { return connections_.size(); }

 private:
  std::map<int, Connection> connections_;  // by descriptor
};

// Builds the server of `builder`, or returns nullptr. gRPC's own statistics
// list a server that is not whole yet, and whoever reads them then crashes
// (1.51), so nobody does meanwhile. Any thread may call it.
std::unique_ptr<grpc::Server> BuildServer(grpc::ServerBuilder& builder);

// Asks gRPC's own statistics (channelz, on by default) how many calls each
// connection has begun and had answered. Nobody else knows of calls that their
// caller cancels at once.
//
// Thread-compatible.
class StreamCounter {
 public:
  // Returns the counts of all servers in this process. Takes some ten
  // microseconds.
  static StreamCounts Total();

  // Returns the counts of one connection. Takes some ten microseconds. Nothing
  // means that it has gone, or that ListAll() must be called first.
  std::optional<StreamCounts> Of(const std::string& peer) const;
  // Learns which connections there are. Takes one or two microseconds for each.
  void ListAll();
  // Returns, by peer, the connections whose handshake ended since the last
  // call. The cost depends on their number only.
  std::vector<std::string> Newcomers();

 private:
  // Calls `see(peer, id)` for each socket from `first` on.
  template <typename See>
  static void ForEachSocket(std::intptr_t first, See see);

  std::intptr_t next_newcomer_ = 0;
  std::map<std::string, std::intptr_t> sockets_;  // gRPC's ids, by peer
};

// Finds connections that should end: those that cancel calls without end and,
// when somebody else needs the place, those that never made a call. It ends
// none itself.
//
// Thread-compatible.
class FloodWatch {
 public:
  explicit FloodWatch(const ResetLimits& limits) : policy_(limits) {}

  // Returns the connections that flood the server. It looks at single ones only
  // when the calls of all connections together go unanswered, and then only at
  // those that have sent something.
  std::vector<Connection> Floods(ConnectionBook& book, SteadyTime now);

  // Returns the connections that began before `since` and are known to have
  // begun no call.
  std::vector<Connection> WithoutACall(const ConnectionBook& book,
                                       SteadyTime since);

  void NoteGone(const Connection& gone) { policy_.NoteGone(gone.from.text); }

 private:
  // Returns the counts of each of `asked`, in the same order.
  std::vector<std::optional<StreamCounts>> CountsOf(
      const std::vector<Connection>& asked);

  ResetPolicy policy_;
  StreamCounter stream_counter_;
  std::int64_t unanswered_ = 0;  // of all connections, when last looked at
};

struct AcceptorOptions {
  DoorLimits door = {};
  ResetLimits resets = {};
  FrameLimits frames = {};
};

// Accepts connections for a gRPC server. Thread-compatible.
class ConnectionAcceptor {
 public:
  // `name` is its name in logs. `clock` outlives it.
  ConnectionAcceptor(const char* name, const AcceptorOptions& options,
                     const Clock& clock);
  ~ConnectionAcceptor();  // stops
  ConnectionAcceptor(const ConnectionAcceptor&) = delete;
  ConnectionAcceptor& operator=(const ConnectionAcceptor&) = delete;

  enum class Handshake { kNone, kTls };
  // Adds a socket, before `builder` builds: whoever comes to `socket` is served
  // with `credentials`, and makes the handshake that these ask for. Connections
  // pass `probe_port` first, if there is one; it outlives this object.
  void AddDoor(ListeningSocket socket, grpc::ServerBuilder* builder,
               std::shared_ptr<grpc::ServerCredentials> credentials,
               Handshake handshake, ProbePort* probe_port = nullptr);
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

#endif  // FROSTLINE_SERVER_RPC_CONNECTION_ACCEPTOR_H_
