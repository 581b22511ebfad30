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
#include "server/rpc/door_policy.h"

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

// Asks gRPC's own books (channelz, on by default) how many calls each
// connection has begun and had answered: of a call that its caller cancels at
// once they alone know.
//
// It is thread-compatible.
class StreamCensus {
 public:
  // Of all servers in this process: some ten microseconds.
  static StreamCounts Total();

  // Some ten microseconds. Nothing: it has gone, or ListAll() must come first.
  std::optional<StreamCounts> Of(const std::string& peer) const;
  // Learns which connections there are: a microsecond or two for each.
  void ListAll();
  // Those, by peer, whose handshake is over and was not when this was asked
  // last. It costs for these alone.
  std::vector<std::string> Newcomers();

 private:
  // Calls `see(peer, id)` for each from `first` on.
  template <typename See>
  static void ForEachSocket(std::intptr_t first, See see);

  std::intptr_t next_newcomer_ = 0;
  std::map<std::string, std::intptr_t> sockets_;  // by peer; gRPC's ids
};

// Looks at connections that are in, and answers which are to end: who cancels
// calls without end, and, when somebody else needs the place, who never called.
// It ends none itself.
//
// It is thread-compatible.
class FloodWatch {
 public:
  explicit FloodWatch(const ResetLimits& limits) : policy_(limits) {}

  // Looks at single connections only when calls of all of them together go
  // unanswered, and at those alone that have sent something.
  std::vector<Connection> Floods(ConnectionBook& book, SteadyTime now);

  // Those that began before `since`, and are known to have begun no call.
  std::vector<Connection> WithoutACall(const ConnectionBook& book,
                                       SteadyTime since);

  void NoteGone(const Connection& gone) { policy_.NoteGone(gone.from.text); }

 private:
  // Of each of `asked`, in their order.
  std::vector<std::optional<StreamCounts>> CountsOf(
      const std::vector<Connection>& asked);

  ResetPolicy policy_;
  StreamCensus census_;
  std::int64_t unanswered_ = 0;  // of all, when looked at last
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_CONNECTION_BOOK_H_
