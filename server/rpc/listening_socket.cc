// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/listening_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::server {
namespace {

constexpr int kMaxPort = 65535;
constexpr std::size_t kShownBytes = 100;
constexpr char kUnix[] = "unix:";
constexpr char kTls[] = "tls:";

struct FreeInfo {
  void operator()(addrinfo* info) const { freeaddrinfo(info); }
};
using AddrInfo = std::unique_ptr<addrinfo, FreeInfo>;

absl::Status BadAddress(const std::string& text, const std::string& cause) {
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("'", absl::Utf8SafeCEscape(text.substr(0, kShownBytes)),
                   "' ", cause),
      "give HOST:PORT, e.g. 127.0.0.1:7070, with port 0 for any free one, or "
      "unix:PATH",
      "listen");
}

absl::StatusOr<AddrInfo> Resolve(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0) {
    return BadAddress(
        host, absl::StrCat("cannot be resolved: ", gai_strerror(failure)));
  }
  return AddrInfo(found);
}

bool IsLoopback(const addrinfo& info) {
  if (info.ai_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, info.ai_addr, sizeof(in));
    return (ntohl(in.sin_addr.s_addr) >> 24) == 127;
  }
  sockaddr_in6 in{};
  std::memcpy(&in, info.ai_addr, sizeof(in));
  return IN6_IS_ADDR_LOOPBACK(&in.sin6_addr);
}

absl::Status Busy(const ListenAddress& address, int failure) {
  return MakeError(
      ErrorId::kPortBusy,
      absl::StrCat(FormatAddress(address), ": ", std::strerror(failure)),
      "stop what listens there, or choose another with --listen (port 0 picks "
      "a free one)",
      "listen");
}

// Checks what is at the path, since gRPC would remove it.
absl::Status CheckSocketFree(const ListenAddress& address) {
  struct stat there{};
  if (lstat(address.socket.c_str(), &there) != 0) return absl::OkStatus();
  if (!S_ISSOCK(there.st_mode)) {
    return BadAddress(FormatAddress(address), "is no socket, and is there");
  }
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  address.socket.copy(to.sun_path, sizeof(to.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return BadAddress(address.socket, std::strerror(errno));
  const int reached =
      connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to));
  const int failure = reached == 0 ? EADDRINUSE : errno;
  close(fd);
  if (failure == ECONNREFUSED) return absl::OkStatus();
  return Busy(address, failure);
}

absl::StatusOr<ListenAddress> ParseSocket(const std::string& text) {
  ListenAddress address;
  address.socket = text.substr(sizeof(kUnix) - 1);
  address.is_loopback = true;
  if (address.socket.empty()) return BadAddress(text, "names no file");
  if (address.socket.size() >= sizeof(sockaddr_un::sun_path)) {
    return BadAddress(text, "is too long for a socket");
  }
  return address;
}

}  // namespace

std::string FormatAddress(const ListenAddress& address) {
  if (!address.socket.empty()) return absl::StrCat(kUnix, address.socket);
  return address.is_ipv6 ? absl::StrCat("[", address.host, "]:", address.port)
                         : absl::StrCat(address.host, ":", address.port);
}

absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text) {
  if (absl::StartsWith(text, kUnix)) return ParseSocket(text);
  if (absl::StartsWith(text, kTls)) {
    auto behind = ParseListenAddress(text.substr(sizeof(kTls) - 1));
    if (!behind.ok() || behind->wants_tls || !behind->socket.empty()) {
      return BadAddress(text, "names no HOST:PORT behind tls:");
    }
    behind->wants_tls = true;
    return behind;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return BadAddress(text, "is not of the form HOST:PORT");
  }
  ListenAddress address;
  if (!absl::SimpleAtoi(text.substr(colon + 1), &address.port) ||
      address.port < 0 || address.port > kMaxPort) {
    return BadAddress(text, "has no port from 0 to 65535");
  }
  std::string host = text.substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string::npos) {
    return BadAddress(text, "needs brackets around its IPv6 host");
  }
  auto resolved = Resolve(host, address.port, 0);
  if (!resolved.ok()) return resolved.status();
  const addrinfo& first = **resolved;
  std::array<char, INET6_ADDRSTRLEN> numeric{};
  if (getnameinfo(first.ai_addr, first.ai_addrlen, numeric.data(),
                  static_cast<socklen_t>(numeric.size()), nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return BadAddress(text, "cannot be written as a number");
  }
  address.host = numeric.data();
  address.is_ipv6 = first.ai_family == AF_INET6;
  address.is_loopback = IsLoopback(first);
  return address;
}

absl::Status CheckPortFree(const ListenAddress& address) {
  if (!address.socket.empty()) return CheckSocketFree(address);
  auto resolved = Resolve(address.host, address.port, AI_NUMERICHOST);
  if (!resolved.ok()) return resolved.status();
  const addrinfo& first = **resolved;
  const int fd = socket(first.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return BadAddress(address.host, std::strerror(errno));
  // A port counts as free when it only waits for late packets of an ended
  // process.
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const int bound = bind(fd, first.ai_addr, first.ai_addrlen);
  const int failure = bound == 0 ? 0 : errno;
  close(fd);
  if (failure == 0) return absl::OkStatus();
  if (failure == EADDRINUSE || failure == EACCES) {
    return Busy(address, failure);
  }
  return BadAddress(FormatAddress(address),
                    absl::StrCat("cannot be used: ", std::strerror(failure)));
}

namespace {

// Keeps other users of this machine from connecting to a Unix socket.
constexpr mode_t kOwnOnly = 0077;
// How many connections the kernel holds that we have not looked at, unless its
// own limit is lower.
constexpr int kMostWaiting = 4096;
// A connection ends when data that was sent stays unacknowledged for so long.
// gRPC sets the same where it listens itself.
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

// Sets options, which connections inherit.
void SetOptions(int fd, const ListenAddress& address) {
  if (!address.socket.empty()) return;
  Set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMs);
  // With this, "[::]" serves IPv4 as well.
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
