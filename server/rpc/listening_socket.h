// SPDX-License-Identifier: Apache-2.0
//
// File: listening_socket.h
//
// The sockets on which the server listens. Addresses are checked here before
// gRPC sees them, since gRPC does not say what is wrong with one.
#ifndef FROSTLINE_SERVER_RPC_LISTENING_SOCKET_H_
#define FROSTLINE_SERVER_RPC_LISTENING_SOCKET_H_

#include <sys/socket.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::server {

// An address to listen at.
struct ListenAddress {
  std::string socket;  // the path of a Unix socket; else empty
  std::string host;    // numeric: "127.0.0.1", "::1"
  int port = 0;        // 0: any free port
  bool is_ipv6 = false;
  bool is_loopback = false;  // other machines cannot reach it
  bool wants_tls = false;    // on loopback: no plaintext here
};

// Returns "127.0.0.1:7070", "[::1]:7070", "unix:/run/frostline.sock".
std::string FormatAddress(const ListenAddress& address);

// Reads "HOST:PORT" or "[HOST]:PORT", either one perhaps after "tls:", or
// "unix:PATH". A name is replaced by its first address. The error is
// REQUEST_INVALID at "listen".
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

// Takes the port for a moment. The error is PORT_BUSY when the port is in use
// or this user may not have it, REQUEST_INVALID when the machine has no such
// address or when something else than a socket is at the path. A socket that an
// ended process left behind is free.
absl::Status CheckPortFree(const ListenAddress& address);

// A listening socket. It is closed with this object, and the file of a Unix
// socket removed.
class ListeningSocket {
 public:
  // Binds, and sets `address->port`. A Unix socket can be reached by its owner
  // alone; one that an ended process left behind is replaced. The error is
  // PORT_BUSY when another process was quicker since CheckPortFree().
  static absl::StatusOr<ListeningSocket> Open(ListenAddress* address);
  ~ListeningSocket();
  ListeningSocket(ListeningSocket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), file_(std::move(other.file_)) {}
  ListeningSocket& operator=(ListeningSocket&& other) = delete;

  int fd() const { return fd_; }

 private:
  ListeningSocket(int fd, std::string file) : fd_(fd), file_(std::move(file)) {}

  int fd_;
  std::string file_;  // of a Unix socket; else empty
};

// Helpers that never wait: listening sockets and accepted ones do not block.

// Returns the new socket, or -1 with errno if there is none.
int AcceptFrom(int listening, sockaddr_storage* from);

// Says whether the peer has ended the connection, or its half of it.
bool HasHungUp(int fd);

// Closes the socket so that the peer gets a reset and no TIME_WAIT stays
// behind.
void CloseAtOnce(int fd);

// A descriptor kept in reserve for when there is no other. Thread-compatible.
class SpareDescriptor {
 public:
  SpareDescriptor();
  ~SpareDescriptor();
  SpareDescriptor(const SpareDescriptor&) = delete;
  SpareDescriptor& operator=(const SpareDescriptor&) = delete;

  // Gives it up to accept one connection, closes that at once and takes the
  // descriptor back. False: this failed, now or for the next time.
  bool AcceptAndClose(int listening);

 private:
  int fd_;  // -1: it was lost
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_LISTENING_SOCKET_H_
