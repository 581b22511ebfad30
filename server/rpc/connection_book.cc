// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/connection_book.h"

#include <fcntl.h>
#include <grpc/grpc.h>
#include <grpc/support/alloc.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "base/plain/json.h"

namespace frostline::server {
namespace {

// Returns 0 when the descriptor is no open socket. No two open sockets have the
// same inode.
ino_t InodeOf(int fd) {
  struct stat about{};
  if (fstat(fd, &about) != 0 || !S_ISSOCK(about.st_mode)) return 0;
  return about.st_ino;
}

std::optional<std::uint64_t> ReceivedFrom(int fd) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
    return std::nullopt;  // a Unix socket, or gone
  }
  return info.tcpi_bytes_received;
}

// Ends the connection with a reset. After shutdown() alone, what the peer goes
// on sending would still be read.
void Abort(int fd) {
  const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
  if (connect(fd, &nobody, sizeof(nobody)) != 0) shutdown(fd, SHUT_RDWR);
}

}  // namespace

std::optional<Connection> ConnectionBook::Add(int fd, PeerAddress from,
                                              SteadyTime now) {
  Connection added{.fd = fd,
                   .inode = InodeOf(fd),
                   .from = std::move(from),
                   .since = now,
                   .bytes_seen = 0};
  const auto [found, is_new] = connections_.try_emplace(fd);
  Connection before = std::exchange(found->second, std::move(added));
  if (is_new) return std::nullopt;
  return before;
}

std::vector<Connection> ConnectionBook::Sweep() {
  std::vector<Connection> gone;
  std::erase_if(connections_, [&gone](const auto& entry) {
    if (InodeOf(entry.first) == entry.second.inode) return false;
    gone.push_back(entry.second);
    return true;
  });
  return gone;
}

std::vector<Connection> ConnectionBook::SentAtLeast(std::uint64_t bytes) {
  std::vector<Connection> busy;
  for (auto& [fd, connection] : connections_) {
    const auto received = ReceivedFrom(fd);
    if (!received.has_value()) continue;
    // Fewer bytes than before belong to another connection with the same
    // descriptor.
    if (*received >= connection.bytes_seen + bytes) busy.push_back(connection);
    connection.bytes_seen = *received;
  }
  return busy;
}

std::vector<Connection> ConnectionBook::Before(SteadyTime since) const {
  std::vector<Connection> old;
  for (const auto& [fd, connection] : connections_) {
    if (connection.since < since) old.push_back(connection);
  }
  return old;
}

void ConnectionBook::Shut(const Connection& connection) {
  // While we hold a copy of the descriptor, nobody else can get its socket
  // between the check and the shutdown.
  const int ours = fcntl(connection.fd, F_DUPFD_CLOEXEC, 0);
  if (ours < 0) return;
  if (InodeOf(ours) == connection.inode) Abort(ours);
  close(ours);
}

namespace {

// What gRPC writes before a peer's name.
constexpr char kTransport[] = "chttp2 ";
constexpr std::intptr_t kPage = 500;

struct FreeText {
  void operator()(char* text) const { gpr_free(text); }
};
using Text = std::unique_ptr<char, FreeText>;
using Path = std::initializer_list<const char*>;

// Follows names from `value`; null when one is missing.
const JsonValue* At(const JsonValue* value, Path path) {
  for (const char* name : path) {
    if (value == nullptr) return nullptr;
    value = value->Find(name);
  }
  return value;
}

// Reads a number: it is written as text, and left out when it is 0.
std::int64_t NumberAt(const JsonValue* value, Path path) {
  const JsonValue* const found = At(value, path);
  std::int64_t number = 0;
  if (found != nullptr && absl::SimpleAtoi(std::string(found->text), &number))
    return number;
  return 0;
}

// Calls `see(element, id)` for each element of the lists `name` in the pages
// that `ask(first id)` returns.
template <typename Ask, typename See>
void ForEachPage(const char* name, Ask ask, Path id_at, See see) {
  std::int64_t next = 0;
  bool is_last = false;
  while (!is_last) {
    const Text text = ask(static_cast<std::intptr_t>(next));
    if (text == nullptr) return;
    const Expected<Json> json = Json::Parse(text.get());
    if (!json.ok()) return;
    const JsonValue* const end = json.value().root().Find("end");
    is_last = end == nullptr || end->truth;
    const JsonValue* const list = json.value().root().Find(name);
    if (list == nullptr || list->first == nullptr) return;
    for (const JsonValue* v = list->first; v != nullptr; v = v->next) {
      const std::int64_t id = NumberAt(v, id_at);
      next = id + 1;
      see(*v, static_cast<std::intptr_t>(id));
    }
  }
}

template <typename See>
void ForEachServer(See see) {
  ForEachPage(
      "server",
      [](std::intptr_t next) { return Text(grpc_channelz_get_servers(next)); },
      {"ref", "serverId"}, see);
}

}  // namespace

StreamCounts StreamCensus::Total() {
  StreamCounts total;
  ForEachServer([&total](const JsonValue& server, std::intptr_t) {
    total.started += NumberAt(&server, {"data", "callsStarted"});
    total.answered += NumberAt(&server, {"data", "callsSucceeded"});
  });
  return total;
}

std::optional<StreamCounts> StreamCensus::Of(const std::string& peer) const {
  const auto found = sockets_.find(peer);
  if (found == sockets_.end()) return std::nullopt;
  const Text text(grpc_channelz_get_socket(found->second));
  if (text == nullptr) return std::nullopt;
  const Expected<Json> json = Json::Parse(text.get());
  if (!json.ok()) return std::nullopt;
  const JsonValue* const data = At(&json.value().root(), {"socket", "data"});
  return StreamCounts{.started = NumberAt(data, {"streamsStarted"}),
                      .answered = NumberAt(data, {"streamsSucceeded"})};
}

template <typename See>
void StreamCensus::ForEachSocket(std::intptr_t first, See see) {
  ForEachServer([&](const JsonValue&, std::intptr_t server) {
    ForEachPage(
        "socketRef",
        [&](std::intptr_t next) {
          return Text(grpc_channelz_get_server_sockets(
              server, std::max(first, next), kPage));
        },
        {"socketId"},
        [&see](const JsonValue& socket, std::intptr_t id) {
          const JsonValue* const name = socket.Find("name");
          if (name == nullptr) return;
          const std::string full(name->text);
          see(std::string(absl::StripPrefix(full, kTransport)), id);
        });
  });
}

void StreamCensus::ListAll() {
  sockets_.clear();
  ForEachSocket(0, [this](std::string peer, std::intptr_t id) {
    sockets_[std::move(peer)] = id;
  });
}

std::vector<std::string> StreamCensus::Newcomers() {
  std::vector<std::string> peers;
  std::intptr_t last = next_newcomer_ - 1;
  ForEachSocket(next_newcomer_, [&](std::string peer, std::intptr_t id) {
    peers.push_back(std::move(peer));
    last = std::max(last, id);
  });
  next_newcomer_ = last + 1;
  return peers;
}

namespace {

// So few more unanswered calls since the last look are no attack.
constexpr std::int64_t kFewCalls = 25;
// A call takes at least two dozen bytes, so who sent fewer than this did not
// begin kFewCalls.
constexpr std::uint64_t kFewBytes = 512;

}  // namespace

std::vector<Connection> FloodWatch::Floods(ConnectionBook& book,
                                           SteadyTime now) {
  if (book.size() == 0) return {};
  const StreamCounts total = StreamCensus::Total();
  const std::int64_t before =
      std::exchange(unanswered_, total.started - total.answered);
  if (unanswered_ - before <= kFewCalls) return {};
  const std::vector<Connection> busy = book.SentAtLeast(kFewBytes);
  const auto counts = CountsOf(busy);
  std::vector<Connection> floods;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    if (!counts[i].has_value()) continue;
    if (policy_.IsFlood(busy[i].from.text, busy[i].since, *counts[i], now)) {
      floods.push_back(busy[i]);
    }
  }
  return floods;
}

std::vector<Connection> FloodWatch::WithoutACall(const ConnectionBook& book,
                                                 SteadyTime since) {
  const std::vector<Connection> old = book.Before(since);
  const auto counts = CountsOf(old);
  std::vector<Connection> idle;
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (counts[i].has_value() && counts[i]->started == 0) {
      idle.push_back(old[i]);
    }
  }
  return idle;
}

std::vector<std::optional<StreamCounts>> FloodWatch::CountsOf(
    const std::vector<Connection>& asked) {
  std::vector<std::optional<StreamCounts>> counts;
  bool listed = false;
  for (const Connection& connection : asked) {
    auto found = census_.Of(connection.from.text);
    if (!found.has_value() && !listed) {
      census_.ListAll();
      listed = true;
      found = census_.Of(connection.from.text);
    }
    counts.push_back(found);
  }
  return counts;
}

}  // namespace frostline::server
