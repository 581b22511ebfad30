// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/listening_socket.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::server {
namespace {

// Other users of this machine may not even connect to a Unix socket.
constexpr mode_t kOwnOnly = 0077;
// The kernel holds so many that we have not looked at, or its own limit.
constexpr int kMostWaiting = 4096;
// What was sent and not acknowledged for so long ends a connection; that is
// what gRPC sets where it listens itself.
constexpr unsigned kUnacknowledgedMs = 20'000;

struct Bindable {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

Bindable BindableOf(const ListenAddress& address) {
  Bindable result;
  if (!address.socket.empty()) {
    sockaddr_un un{};
    un.sun_family = AF_UNIX;
    address.socket.copy(un.sun_path, sizeof(un.sun_path) - 1);
    std::memcpy(&result.bytes, &un, sizeof(un));
    result.size = sizeof(un);
    return result;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(),
                  &hints, &found) != 0) {
    return result;  // binding it fails
  }
  std::memcpy(&result.bytes, found->ai_addr, found->ai_addrlen);
  result.size = found->ai_addrlen;
  freeaddrinfo(found);
  return result;
}

void Set(int fd, int level, int option, unsigned value) {
  setsockopt(fd, level, option, &value, sizeof(value));
}

// Connections inherit what is set here.
void SetOptions(int fd, const ListenAddress& address) {
  if (!address.socket.empty()) return;
  Set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMs);
  // "[::]" is IPv4 as well.
  if (address.is_ipv6) Set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
}

int PortOf(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  sockaddr_in in{};  // the port of an IPv6 address is at the same place
  std::memcpy(&in, &bound, sizeof(in));
  return ntohs(in.sin_port);
}

absl::Status TakenMeanwhile(const ListenAddress& address, int failure) {
  return MakeError(
      ErrorId::kPortBusy,
      absl::StrCat(FormatAddress(address),
                   " was taken a moment ago: ", std::strerror(failure)),
      "try again, or choose another port with --listen", "listen");
}

}  // namespace

absl::StatusOr<ListeningSocket> ListeningSocket::Open(ListenAddress* address) {
  const Bindable to = BindableOf(*address);
  const bool is_unix = !address->socket.empty();
  const int fd =
      socket(to.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return TakenMeanwhile(*address, errno);
  ListeningSocket made(fd, "");
  SetOptions(fd, *address);
  if (is_unix) unlink(address->socket.c_str());
  const mode_t before = umask(kOwnOnly);
  const int bound =
      bind(fd, reinterpret_cast<const sockaddr*>(&to.bytes), to.size);
  const int failure = errno;
  umask(before);
  if (bound != 0) return TakenMeanwhile(*address, failure);
  if (is_unix) made.file_ = address->socket;
  if (listen(fd, kMostWaiting) != 0) return TakenMeanwhile(*address, errno);
  if (!is_unix) address->port = PortOf(fd);
  return made;
}

ListeningSocket::~ListeningSocket() {
  if (fd_ < 0) return;
  if (!file_.empty()) unlink(file_.c_str());
  close(fd_);
}

}  // namespace frostline::server
