// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/accepting.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace frostline::server {
namespace {

int Take() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

int AcceptFrom(int listening, sockaddr_storage* from) {
  socklen_t size = sizeof(*from);
  return accept4(listening, reinterpret_cast<sockaddr*>(from), &size,
                 SOCK_NONBLOCK | SOCK_CLOEXEC);
}

bool HasHungUp(int fd) {
  pollfd watched{.fd = fd, .events = POLLRDHUP, .revents = 0};
  return poll(&watched, 1, 0) > 0;
}

void CloseAtOnce(int fd) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(fd);
}

SpareDescriptor::SpareDescriptor() : fd_(Take()) {}

SpareDescriptor::~SpareDescriptor() {
  if (fd_ >= 0) close(fd_);
}

bool SpareDescriptor::AcceptAndClose(int listening) {
  if (fd_ < 0) fd_ = Take();
  if (fd_ < 0) return false;
  close(fd_);
  sockaddr_storage from{};
  const int accepted = AcceptFrom(listening, &from);
  if (accepted >= 0) CloseAtOnce(accepted);
  fd_ = Take();
  return fd_ >= 0;
}

}  // namespace frostline::server
