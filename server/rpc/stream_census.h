// SPDX-License-Identifier: Apache-2.0
//
// File: stream_census.h
//
// Asks gRPC's own books (channelz, on by default) how many calls each
// connection has begun and had answered: of a call that its caller cancels at
// once they alone know.
#ifndef FROSTLINE_SERVER_RPC_STREAM_CENSUS_H_
#define FROSTLINE_SERVER_RPC_STREAM_CENSUS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/rpc/reset_policy.h"

namespace frostline::server {

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_STREAM_CENSUS_H_
