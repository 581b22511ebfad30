// SPDX-License-Identifier: Apache-2.0
//
// File: listening_socket.h
//
// Judges the address before gRPC sees it, which does not say what is wrong.
#ifndef FROSTLINE_SERVER_RPC_LISTENING_SOCKET_H_
#define FROSTLINE_SERVER_RPC_LISTENING_SOCKET_H_

#include <sys/socket.h>

#include <string>
#include <utility>

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

// It is closed with the object, and the file of a Unix socket removed.
class ListeningSocket {
 public:
  // Binds, and sets `address->port`. A Unix socket can be reached by its owner
  // alone; one that an ended process left is replaced. It answers PORT_BUSY
  // when another was quicker since CheckPortFree().
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

// Never waits: listening sockets and what is accepted do not block.

// The new socket; -1, with errno: there is none.
int AcceptFrom(int listening, sockaddr_storage* from);

// The peer has ended the connection, or its half of it.
bool HasHungUp(int fd);

// The peer gets a reset, and no TIME_WAIT stays behind.
void CloseAtOnce(int fd);

// Kept for the time when there is no other. It is thread-compatible.
class SpareDescriptor {
 public:
  SpareDescriptor();
  ~SpareDescriptor();
  SpareDescriptor(const SpareDescriptor&) = delete;
  SpareDescriptor& operator=(const SpareDescriptor&) = delete;

  // Gives it up to accept one connection, closes that at once and takes it
  // back. False: even that did not go, now or for the next time.
  bool AcceptAndClose(int listening);

 private:
  int fd_;  // -1: it was lost
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_LISTENING_SOCKET_H_
