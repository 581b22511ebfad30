// SPDX-License-Identifier: Apache-2.0
//
// File: listen_address.h
//
// Judges the address before gRPC sees it, which does not say what is wrong.
#ifndef FROSTLINE_SERVER_RPC_LISTEN_ADDRESS_H_
#define FROSTLINE_SERVER_RPC_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::server {

struct ListenAddress {
  std::string socket;  // the path of a Unix socket; else empty
  std::string host;    // numeric: "127.0.0.1", "::1"
  int port = 0;        // 0: any that is free
  bool is_ipv6 = false;
  bool is_loopback = false;  // nobody on another machine reaches it
  bool wants_tls = false;    // of loopback: it is not served in plaintext
};

// "127.0.0.1:7070", "[::1]:7070", "unix:/run/frostline.sock".
std::string FormatAddress(const ListenAddress& address);

// Reads "HOST:PORT", "[HOST]:PORT", either behind "tls:", or "unix:PATH"; a
// name becomes its first address. It answers REQUEST_INVALID at "listen".
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

// Takes the port for a moment. It answers PORT_BUSY when that is in use or not
// ours, REQUEST_INVALID when the machine has no such address, or something else
// than a socket is at the path. A socket that an ended process left is free.
absl::Status CheckPortFree(const ListenAddress& address);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_LISTEN_ADDRESS_H_
