// SPDX-License-Identifier: Apache-2.0
//
// File: accepting.h
//
// Never waits: listening sockets and what is accepted do not block.
#ifndef FROSTLINE_SERVER_RPC_ACCEPTING_H_
#define FROSTLINE_SERVER_RPC_ACCEPTING_H_

#include <sys/socket.h>

namespace frostline::server {

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

#endif  // FROSTLINE_SERVER_RPC_ACCEPTING_H_
