// SPDX-License-Identifier: Apache-2.0
//
// File: listening_socket.h
#ifndef FROSTLINE_SERVER_RPC_LISTENING_SOCKET_H_
#define FROSTLINE_SERVER_RPC_LISTENING_SOCKET_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/rpc/listen_address.h"

namespace frostline::server {

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_LISTENING_SOCKET_H_
