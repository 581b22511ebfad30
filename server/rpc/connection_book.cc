// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/connection_book.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace frostline::server {
namespace {

// 0 where the number is no open socket. No two that are open have one inode.
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

// After shutdown() alone a peer that goes on sending would be read on.
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
    // Less than before is another's, who has the number now.
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
  // With a number of our own nobody else can get it between look and deed.
  const int ours = fcntl(connection.fd, F_DUPFD_CLOEXEC, 0);
  if (ours < 0) return;
  if (InodeOf(ours) == connection.inode) Abort(ours);
  close(ours);
}

}  // namespace frostline::server
