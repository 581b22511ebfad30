// SPDX-License-Identifier: Apache-2.0
//
// File: peer_address.h
#ifndef FROSTLINE_SERVER_RPC_PEER_ADDRESS_H_
#define FROSTLINE_SERVER_RPC_PEER_ADDRESS_H_

#include <sys/socket.h>

#include <string>

namespace frostline::server {

struct PeerAddress {
  // The same for all that one machine can choose from: an IPv4 address, the
  // first 64 bits of an IPv6 one, or "local".
  std::string house = "";
  // It is on this machine: loopback, or a Unix socket.
  bool is_local = false;
  // It is what gRPC calls it: "ipv4:10.0.0.7:4321", "ipv6:%5B::1%5D:4321". All
  // peers at Unix sockets are "unix:".
  std::string text = "";
};

// An IPv4 address inside of an IPv6 one is the former.
PeerAddress PeerAddressOf(const sockaddr_storage& address);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_PEER_ADDRESS_H_
