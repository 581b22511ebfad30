// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace frostline::test {

// Counts the replies in the bytes that a gRPC server sends: HTTP/2 streams that
// have had a HEADERS frame. It reads frame headers alone.
class ReplyCounter {
 public:
  // The next bytes, cut anywhere.
  void Take(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      if (skip_ > 0) {
        const std::size_t part = std::min(skip_, bytes.size() - at);
        skip_ -= part;
        at += part;
        continue;
      }
      header_ += bytes[at++];
      if (header_.size() == kHeaderBytes) EndHeader();
    }
  }

  std::size_t count() const { return streams_.size(); }

 private:
  static constexpr std::size_t kHeaderBytes = 9;
  static constexpr std::size_t kHeadersFrame = 1;

  std::size_t Number(std::size_t from, std::size_t bytes) const {
    std::size_t number = 0;
    for (std::size_t i = from; i < from + bytes; ++i) {
      number = number * 256 + static_cast<unsigned char>(header_[i]);
    }
    return number;
  }

  void EndHeader() {
    skip_ = Number(0, 3);
    if (Number(3, 1) == kHeadersFrame) streams_.insert(Number(5, 4));
    header_.clear();
  }

  std::string header_;
  std::size_t skip_ = 0;
  std::set<std::size_t> streams_;
};

namespace {

constexpr std::size_t kChunk = 16 * 1024;
constexpr int kTickMs = 1;

sockaddr_in AddressOf(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

void CloseWithReset(int socket) {
  const linger at_once{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(socket);
}

// One direction: bytes that have come in and when each may go on.
class Pipe {
 public:
  Pipe(int from, int to) : from_(from), to_(to) {}

  bool ended() const { return ended_ && waiting_.empty(); }

  // What is there, without waiting for more; empty when nothing is.
  std::string Read() {
    std::array<char, kChunk> bytes{};
    const ssize_t n = recv(from_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n > 0) return {bytes.data(), static_cast<std::size_t>(n)};
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) ended_ = true;
    return "";
  }
  void Take(std::string bytes, SteadyTime due) {
    waiting_.push_back({due, std::move(bytes)});
  }
  void Move(SteadyTime now, std::size_t most) {
    while (!waiting_.empty() && waiting_.front().due <= now && most > 0) {
      std::string& bytes = waiting_.front().bytes;
      const ssize_t n = send(to_, bytes.data(), std::min(most, bytes.size()),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n <= 0) return;
      most -= static_cast<std::size_t>(n);
      bytes.erase(0, static_cast<std::size_t>(n));
      if (bytes.empty()) waiting_.pop_front();
    }
  }

 private:
  struct Waiting {
    SteadyTime due;
    std::string bytes;
  };
  const int from_;
  const int to_;
  std::deque<Waiting> waiting_;
  bool ended_ = false;
};

}  // namespace

class TcpProxy::Link {
 public:
  Link(int client, int server)
      : client_(client),
        server_(server),
        up_(client, server),
        down_(server, client) {}
  ~Link() {
    CloseWithReset(client_);
    CloseWithReset(server_);
  }

  // False when it is over; `cut` when it was cut.
  bool Turn(const Weather& weather, SteadyTime now, bool* cut) {
    if (weather.stalled) return true;
    const std::size_t most = weather.drip == 0 ? SIZE_MAX : weather.drip;
    std::string request = up_.Read();
    if (!request.empty()) up_.Take(std::move(request), now + weather.latency);
    std::string reply = down_.Read();
    replies_.Take(reply);
    if (weather.cuts_replies && replies_.count() > 1) {
      *cut = true;
      return false;
    }
    if (!reply.empty() && !weather.swallows_replies) {
      down_.Take(std::move(reply), now + weather.latency);
    }
    up_.Move(now, most);
    down_.Move(now, most);
    return !up_.ended() && !down_.ended();
  }

 private:
  const int client_;
  const int server_;
  Pipe up_;
  Pipe down_;
  ReplyCounter replies_;
};

TcpProxy::TcpProxy(const std::string& target) : target_(target) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = AddressOf(0);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, SOMAXCONN) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) !=
          0) {
    std::abort();
  }
  address_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  thread_ = std::thread([this] { Run(); });
}

TcpProxy::~TcpProxy() {
  stopping_ = true;
  thread_.join();
  close(listener_);
}

void TcpProxy::Set(const Weather& weather) {
  const std::lock_guard<std::mutex> lock(mutex_);
  weather_ = weather;
}

void TcpProxy::Accept(const Weather& weather) {
  if (weather.stalled) return;
  pollfd waiting{listener_, POLLIN, 0};
  while (poll(&waiting, 1, 0) == 1) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    int port = 0;
    if (!absl::SimpleAtoi(target_.substr(target_.rfind(':') + 1), &port)) {
      std::abort();
    }
    const sockaddr_in address = AddressOf(port);
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address),
                sizeof(address)) != 0) {
      CloseWithReset(client);
      close(server);
      continue;
    }
    for (const int end : {client, server}) {
      const int on = 1;
      setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    ++connections_;
    links_.push_back(std::make_unique<Link>(client, server));
  }
}

void TcpProxy::Run() {
  const SystemClock clock;
  while (!stopping_) {
    poll(nullptr, 0, kTickMs);
    Weather weather;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      weather = weather_;
    }
    if (reset_.exchange(false)) links_.clear();
    Accept(weather);
    const SteadyTime now = clock.Steady();
    links_.remove_if([&](const std::unique_ptr<Link>& link) {
      bool cut = false;
      const bool over = !link->Turn(weather, now, &cut);
      if (cut) ++cuts_;
      return over;
    });
  }
  links_.clear();
}

}  // namespace frostline::test
