// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/connection_acceptor.h"

#include <fcntl.h>
#include <grpc/grpc.h>
#include <grpc/support/alloc.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "base/mutex.h"
#include "base/plain/json.h"
#include "server/rpc/door_policy.h"
#include "server/rpc/listening_socket.h"
#include "server/rpc/transport_guard.h"

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

// Held while a server is built, and while those that there are are listed.
Mutex& ServersMutex() {
  static auto* const mutex = new Mutex;
  return *mutex;
}

template <typename See>
void ForEachServer(See see) {
  ForEachPage(
      "server",
      [](std::intptr_t next) {
        const MutexLock lock(&ServersMutex());
        return Text(grpc_channelz_get_servers(next));
      },
      {"ref", "serverId"}, see);
}

}  // namespace

std::unique_ptr<grpc::Server> BuildServer(grpc::ServerBuilder& builder) {
  const MutexLock lock(&ServersMutex());
  return builder.BuildAndStart();
}

StreamCounts StreamCounter::Total() {
  StreamCounts total;
  ForEachServer([&total](const JsonValue& server, std::intptr_t) {
    total.started += NumberAt(&server, {"data", "callsStarted"});
    total.answered += NumberAt(&server, {"data", "callsSucceeded"});
  });
  return total;
}

std::optional<StreamCounts> StreamCounter::Of(const std::string& peer) const {
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
void StreamCounter::ForEachSocket(std::intptr_t first, See see) {
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

void StreamCounter::ListAll() {
  sockets_.clear();
  ForEachSocket(0, [this](std::string peer, std::intptr_t id) {
    sockets_[std::move(peer)] = id;
  });
}

std::vector<std::string> StreamCounter::Newcomers() {
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
// A call takes at least two dozen bytes, so whoever sent fewer bytes than this
// did not begin kFewCalls calls.
constexpr std::uint64_t kFewBytes = 512;

}  // namespace

std::vector<Connection> FloodWatch::Floods(ConnectionBook& book,
                                           SteadyTime now) {
  if (book.size() == 0) return {};
  const StreamCounts total = StreamCounter::Total();
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
    auto found = stream_counter_.Of(connection.from.text);
    if (!found.has_value() && !listed) {
      stream_counter_.ListAll();
      listed = true;
      found = stream_counter_.Of(connection.from.text);
    }
    counts.push_back(found);
  }
  return counts;
}

namespace {

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;
using ByFd = grpc::ServerBuilder::experimental_type::ExternalConnectionType;

// How many are accepted at one door before others get their turn.
constexpr int kAtOnce = 64;
constexpr Duration kBetweenHandshakeLooks = std::chrono::milliseconds(5);
constexpr Duration kBetweenFloodWatches = std::chrono::milliseconds(100);
constexpr Duration kBetweenSweeps = std::chrono::seconds(1);
// The pause when all places are taken, since then each new connection may start
// a search for those that have gone.
constexpr Duration kBetweenSweepsIfFull = std::chrono::milliseconds(50);
constexpr Duration kBetweenEvictions = std::chrono::seconds(2);
// A connection that had no call for so long may be ended for a new one.
constexpr Duration kTimeToCall = std::chrono::seconds(10);
// The pause when not even the descriptor in reserve is there.
constexpr Duration kRest = std::chrono::milliseconds(100);

std::size_t OpenDescriptors() {
  std::error_code failure;
  const std::filesystem::directory_iterator open("/proc/self/fd", failure);
  if (failure) return 0;
  return static_cast<std::size_t>(
      std::distance(open, std::filesystem::directory_iterator()));
}

DoorLimits CompletedLimits(DoorLimits limits) {
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return limits;
  const std::size_t most =
      ConnectionsFor(descriptors.rlim_cur, OpenDescriptors());
  if (limits.connections == 0 || limits.connections > most) {
    limits.connections = most;
  }
  return limits;
}

bool OutOfDescriptors(int failure) {
  return failure == EMFILE || failure == ENFILE;
}

}  // namespace

// What the thread does. All but the constructor, Start() and Stop() runs on it.
class ConnectionAcceptor::Rounds {
 public:
  Rounds(const char* name, const AcceptorOptions& options, const Clock& clock)
      : clock_(clock),
        policy_(CompletedLimits(options.door)),
        watch_(options.resets),
        guard_(std::make_shared<TransportGuard>(options.frames)),
        tally_(name),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Rounds() {
    Stop();
    close(wake_);
  }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  void AddDoor(ListeningSocket socket, std::unique_ptr<Acceptor> acceptor,
               Handshake handshake, ProbePort* probe_port) {
    doors_.push_back({std::move(socket), std::move(acceptor),
                      handshake == Handshake::kTls, probe_port, guard_});
  }

  const DoorCounts& counts() const { return tally_.total(); }

  void Start() {
    for (Door& door : doors_) {
      if (door.probe_port == nullptr) continue;
      door.probe_port->Start([&door](int fd) { door.HandOn(fd); });
    }
    thread_ = std::thread([this] { Run(); });
  }

  void Stop() {
    if (thread_.joinable()) {
      stopping_ = true;
      eventfd_write(wake_, 1);
      thread_.join();
    }
    for (const Door& door : doors_) {
      if (door.probe_port != nullptr) door.probe_port->Stop();
    }
    doors_.clear();
  }

 private:
  struct Door {
    ListeningSocket socket;
    std::unique_ptr<Acceptor> acceptor;
    bool is_paced = false;
    ProbePort* probe_port = nullptr;
    std::shared_ptr<TransportGuard> guard;

    // Hands the socket to gRPC.
    void HandOn(int fd) {
      TransportGuard::Expect(fd, guard);
      Acceptor::NewConnectionParameters parameters;
      parameters.listener_fd = socket.fd();
      parameters.fd = fd;
      acceptor->HandleNewConnection(&parameters);
    }
  };

  void Run() {
    std::vector<pollfd> watched(doors_.size() + 1);
    watched.back() = {.fd = wake_, .events = POLLIN, .revents = 0};
    while (!stopping_) {
      const SteadyTime now = clock_.Steady();
      for (std::size_t i = 0; i < doors_.size(); ++i) {
        const bool is_open = now >= resting_until_ && MayAccept(doors_[i]);
        watched[i] = {.fd = doors_[i].socket.fd(),
                      .events = static_cast<short>(is_open ? POLLIN : 0),
                      .revents = 0};
      }
      poll(watched.data(), watched.size(), TimeoutMs(now));
      for (std::size_t i = 0; i < doors_.size(); ++i) {
        if (watched[i].revents != 0) Serve(doors_[i]);
      }
      Look();
    }
    tally_.LogIfDue(clock_.Steady(), /*at_last=*/true);
  }

  int TimeoutMs(SteadyTime now) const {
    Duration wait = book_.size() > 0 ? kBetweenFloodWatches : kBetweenSweeps;
    if (now < resting_until_) wait = resting_until_ - now;
    if (!pace_.IsIdle()) wait = std::min(wait, kBetweenHandshakeLooks);
    return static_cast<int>(
               std::chrono::duration_cast<std::chrono::milliseconds>(wait)
                   .count()) +
           1;
  }

  // Does what is done from time to time.
  void Look() {
    const SteadyTime now = clock_.Steady();
    if (!pace_.IsIdle() && now >= handshakes_seen_ + kBetweenHandshakeLooks) {
      handshakes_seen_ = now;
      for (const std::string& peer : stream_counter_.Newcomers())
        pace_.NoteOver(peer);
      pace_.Forget(now);
    }
    if (now >= flood_watched_ + kBetweenFloodWatches) {
      flood_watched_ = now;
      for (const Connection& flood : watch_.Floods(book_, now)) Cut(flood, now);
      for (const auto& cut : guard_->TakeCuts()) NoteCut(cut, now);
    }
    if (now >= swept_ + kBetweenSweeps) {
      Sweep(now);
      policy_.Forget(now);
    }
    tally_.NoteOpen(policy_.connections());
    tally_.LogIfDue(now);
  }

  void Serve(Door& door) {
    for (int i = 0; i < kAtOnce && MayAccept(door); ++i) {
      sockaddr_storage from{};
      const int fd = AcceptFrom(door.socket.fd(), &from);
      if (fd >= 0) {
        Receive(door, fd, PeerAddressOf(from));
      } else if (OutOfDescriptors(errno)) {
        if (!AcceptToClose(door)) return Rest();
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return;
      } else if (errno == ENOBUFS || errno == ENOMEM) {
        return Rest();
      }  // anything else is that connection's alone
    }
  }

  bool MayAccept(const Door& door) const {
    return !door.is_paced || pace_.MayBegin();
  }

  void Rest() { resting_until_ = clock_.Steady() + kRest; }

  // A connection left in the queue would wake us again and again.
  bool AcceptToClose(const Door& door) {
    if (!spare_.AcceptAndClose(door.socket.fd())) return false;
    tally_.NoteNoDescriptor();
    return true;
  }

  void Receive(Door& door, int fd, const PeerAddress& from) {
    const SteadyTime now = clock_.Steady();
    // Drops one that waited for long and has given up: its handshake would be
    // for nothing.
    if (door.is_paced && HasHungUp(fd)) return CloseAtOnce(fd);
    const DoorVerdict verdict = Judge(from, now);
    if (verdict != DoorVerdict::kWelcome) {
      tally_.NoteTurnedAway(verdict);
      CloseAtOnce(fd);
      return;
    }
    policy_.NoteAdmitted(from, now);
    if (door.is_paced) pace_.NoteBegun(from.text, now);
    const auto before = book_.Add(fd, from, now);
    if (before.has_value()) NoteGone(*before);
    tally_.NoteAccepted();
    if (door.probe_port != nullptr) return door.probe_port->Receive(fd);
    door.HandOn(fd);
  }

  DoorVerdict Judge(const PeerAddress& from, SteadyTime now) {
    const auto is_full = [](DoorVerdict verdict) {
      return verdict == DoorVerdict::kFull ||
             verdict == DoorVerdict::kAddressFull;
    };
    DoorVerdict verdict = policy_.Judge(from, now);
    if (!is_full(verdict)) return verdict;
    if (now >= swept_ + kBetweenSweepsIfFull) {
      Sweep(now);
      verdict = policy_.Judge(from, now);
    }
    if (is_full(verdict) && now >= evicted_ + kBetweenEvictions) {
      evicted_ = now;
      for (const Connection& idle :
           watch_.WithoutACall(book_, now - kTimeToCall)) {
        tally_.NoteEvicted();
        ConnectionBook::Shut(idle);
      }
    }
    return verdict;
  }

  void Cut(const Connection& flood, SteadyTime now) {
    NoteCut({.from = flood.from, .why = FrameVerdict::kResets}, now);
    ConnectionBook::Shut(flood);
  }

  void NoteCut(const TransportGuard::Cut& cut, SteadyTime now) {
    tally_.NoteCut(cut.why);
    policy_.NoteCut(cut.from, now);
    has_cut_ = true;
  }

  void Sweep(SteadyTime now) {
    swept_ = now;
    for (const Connection& gone : book_.Sweep()) NoteGone(gone);
    // Gives back the memory that a flood took and the allocator keeps.
    if (std::exchange(has_cut_, false)) malloc_trim(0);
  }

  void NoteGone(const Connection& gone) {
    policy_.NoteGone(gone.from);
    pace_.NoteOver(gone.from.text);
    watch_.NoteGone(gone);
  }

  const Clock& clock_;
  DoorPolicy policy_;
  HandshakePace pace_;
  StreamCounter stream_counter_;  // of whose handshake is over
  ConnectionBook book_;
  FloodWatch watch_;
  const std::shared_ptr<TransportGuard> guard_;
  DoorTally tally_;
  SpareDescriptor spare_;
  const int wake_;  // written to end the thread sooner
  std::atomic<bool> stopping_ = false;
  std::vector<Door> doors_;
  bool has_cut_ = false;  // since the last sweep
  SteadyTime resting_until_{};
  SteadyTime handshakes_seen_{};
  SteadyTime flood_watched_{};
  SteadyTime swept_{};
  SteadyTime evicted_{};
  std::thread thread_;
};

ConnectionAcceptor::ConnectionAcceptor(const char* name,
                                       const AcceptorOptions& options,
                                       const Clock& clock)
    : rounds_(std::make_unique<Rounds>(name, options, clock)) {}
ConnectionAcceptor::~ConnectionAcceptor() = default;

void ConnectionAcceptor::AddDoor(
    ListeningSocket socket, grpc::ServerBuilder* builder,
    std::shared_ptr<grpc::ServerCredentials> credentials, Handshake handshake,
    ProbePort* probe_port) {
  rounds_->AddDoor(std::move(socket),
                   builder->experimental().AddExternalConnectionAcceptor(
                       ByFd::FROM_FD, std::move(credentials)),
                   handshake, probe_port);
}

void ConnectionAcceptor::Start() { rounds_->Start(); }
void ConnectionAcceptor::Stop() { rounds_->Stop(); }
const DoorCounts& ConnectionAcceptor::counts() const {
  return rounds_->counts();
}

}  // namespace frostline::server
