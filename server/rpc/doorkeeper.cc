// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/doorkeeper.h"

#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "server/rpc/connection_book.h"
#include "server/rpc/door_policy.h"
#include "server/rpc/listening_socket.h"
#include "server/rpc/transport_guard.h"

namespace frostline::server {
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
class Doorkeeper::Rounds {
 public:
  Rounds(const char* name, const DoorkeeperOptions& options, const Clock& clock)
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
               Handshake handshake, Anteroom* anteroom) {
    doors_.push_back({std::move(socket), std::move(acceptor),
                      handshake == Handshake::kTls, anteroom, guard_});
  }

  const DoorCounts& counts() const { return tally_.total(); }

  void Start() {
    for (Door& door : doors_) {
      if (door.anteroom == nullptr) continue;
      door.anteroom->Start([&door](int fd) { door.HandOn(fd); });
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
      if (door.anteroom != nullptr) door.anteroom->Stop();
    }
    doors_.clear();
  }

 private:
  struct Door {
    ListeningSocket socket;
    std::unique_ptr<Acceptor> acceptor;
    bool is_paced = false;
    Anteroom* anteroom = nullptr;
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
      for (const std::string& peer : census_.Newcomers()) pace_.NoteOver(peer);
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
    if (door.anteroom != nullptr) return door.anteroom->Receive(fd);
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
  StreamCensus census_;  // of whose handshake is over
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

Doorkeeper::Doorkeeper(const char* name, const DoorkeeperOptions& options,
                       const Clock& clock)
    : rounds_(std::make_unique<Rounds>(name, options, clock)) {}
Doorkeeper::~Doorkeeper() = default;

void Doorkeeper::AddDoor(ListeningSocket socket, grpc::ServerBuilder* builder,
                         std::shared_ptr<grpc::ServerCredentials> credentials,
                         Handshake handshake, Anteroom* anteroom) {
  rounds_->AddDoor(std::move(socket),
                   builder->experimental().AddExternalConnectionAcceptor(
                       ByFd::FROM_FD, std::move(credentials)),
                   handshake, anteroom);
}

void Doorkeeper::Start() { rounds_->Start(); }
void Doorkeeper::Stop() { rounds_->Stop(); }
const DoorCounts& Doorkeeper::counts() const { return rounds_->counts(); }

}  // namespace frostline::server
