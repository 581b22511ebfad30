// SPDX-License-Identifier: Apache-2.0
//
// File: connection_book.h
//
// Remembers sockets that gRPC owns and closes, by number and inode: when a
// number has another inode, or none, that connection has gone. So a connection
// costs no second descriptor.
#ifndef FROSTLINE_SERVER_RPC_CONNECTION_BOOK_H_
#define FROSTLINE_SERVER_RPC_CONNECTION_BOOK_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "server/rpc/peer_address.h"

namespace frostline::server {

struct Connection {
  int fd = -1;  // gRPC's
  ino_t inode = 0;
  PeerAddress from;
  SteadyTime since{};
  std::uint64_t bytes_seen = 0;  // received from it, when last asked
};

// It is thread-compatible.
class ConnectionBook {
 public:
  // Before gRPC gets the socket. Whoever had the number has gone, and is
  // answered.
  std::optional<Connection> Add(int fd, PeerAddress from, SteadyTime now);

  // Takes out and answers who has gone.
  std::vector<Connection> Sweep();

  // Answers who has sent so many bytes since it was asked last.
  std::vector<Connection> SentAtLeast(std::uint64_t bytes);

  // Answers those that began before `since`.
  std::vector<Connection> Before(SteadyTime since) const;

  // Ends the connection with a reset, unread bytes are dropped; gRPC then
  // closes it. It touches nothing if that has gone, whoever has the number
  // meanwhile.
  static void Shut(const Connection& connection);

  std::size_t size() const { return connections_.size(); }

 private:
  std::map<int, Connection> connections_;  // by number
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_CONNECTION_BOOK_H_
