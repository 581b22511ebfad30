// SPDX-License-Identifier: Apache-2.0
//
// File: door_policy.h
//
// Decides which new connections come in. It counts the connections of each
// house (see PeerAddress), and lets a house open a number of them at once, then
// so many a second. It holds no socket; connection_acceptor.h acts on what it
// says.
//
//   if (policy.Judge(from, now) == DoorVerdict::kWelcome) {
//     policy.NoteAdmitted(from, now);
//     ...
//   }
#ifndef FROSTLINE_SERVER_RPC_DOOR_POLICY_H_
#define FROSTLINE_SERVER_RPC_DOOR_POLICY_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "server/rpc/frame_filter.h"

namespace frostline::server {

// Where a connection comes from.
struct PeerAddress {
  // Everything that one machine can choose from has the same house: an IPv4
  // address, the first 64 bits of an IPv6 address, or "local".
  std::string house = "";
  // True on this machine: loopback, or a Unix socket.
  bool is_local = false;
  // The peer as gRPC names it: "ipv4:10.0.0.7:4321", "ipv6:%5B::1%5D:4321". All
  // peers at Unix sockets are "unix:".
  std::string text = "";
};

// An IPv4 address within an IPv6 one is returned as the IPv4 address.
PeerAddress PeerAddressOf(const sockaddr_storage& address);

// How many new connections may come at once, and then how many a second.
struct NewcomerRate {
  double per_second;
  double at_once;
};

// How many connections may be open, and how fast new ones may come.
struct DoorLimits {
  // In all; never more than the process's limit on descriptors allows. 0: as
  // many as that.
  std::size_t connections = 0;
  // From one other machine, or from all behind one address translation.
  std::size_t per_address = 4096;
  // From this machine. 0: three quarters of all, so that a program here cannot
  // shut out other machines.
  std::size_t local = 0;
  NewcomerRate rate = {.per_second = 256, .at_once = 1024};
  NewcomerRate local_rate = {.per_second = 5'000, .at_once = 20'000};
  // How long a house on another machine is kept out after one of its
  // connections was cut.
  Duration barred = std::chrono::seconds(10);
};

// Returns how many connections leave enough descriptors for the database,
// backups and logs, when `open` of `limit` descriptors are in use. At least
// one.
std::size_t ConnectionsFor(std::size_t limit, std::size_t open);

enum class DoorVerdict { kWelcome, kFull, kAddressFull, kTooFast, kBarred };

// Decides who comes in. Thread-compatible. Times must not decrease.
class DoorPolicy {
 public:
  // `limits.connections` must be above 0.
  explicit DoorPolicy(const DoorLimits& limits);

  DoorVerdict Judge(const PeerAddress& from, SteadyTime now) const;
  void NoteAdmitted(const PeerAddress& from, SteadyTime now);
  void NoteGone(const PeerAddress& from);
  void NoteCut(const PeerAddress& from, SteadyTime now);
  // Forgets the houses that would be judged the same as a new one.
  void Forget(SteadyTime now);

  std::size_t connections() const { return connections_; }
  std::size_t houses() const { return houses_.size(); }

 private:
  struct House {
    bool is_local = false;
    std::size_t connections = 0;
    double tokens = 0;
    SteadyTime counted{};  // when there were this many tokens
    SteadyTime barred_until{};
  };

  const NewcomerRate& RateOf(const House& house) const;
  double TokensOf(const House& house, SteadyTime now) const;
  House& Remember(const PeerAddress& from, SteadyTime now);

  const DoorLimits limits_;
  std::size_t connections_ = 0;
  std::map<std::string, House> houses_;
};

// Counts since the start. Any thread may read.
struct DoorCounts {
  Counter accepted;
  Counter full;
  Counter address_full;
  Counter too_fast;
  Counter barred;
  Counter no_descriptor;
  Counter cut;
  Counter cut_for_frames;
  Counter evicted;
  Level open;
};

// Counts who was turned away since the last line in the log, so that a flood
// makes one line every ten seconds and not one for each connection.
class DoorTally {
 public:
  explicit DoorTally(const char* door) : door_(door) {}

  void NoteTurnedAway(DoorVerdict why);
  void NoteAccepted() { total_.accepted.Add(); }
  void NoteNoDescriptor();
  void NoteCut(FrameVerdict why);
  void NoteEvicted();  // had made no call, and all places were taken
  void NoteOpen(std::size_t connections) {
    total_.open.Set(static_cast<std::int64_t>(connections));
  }
  const DoorCounts& total() const { return total_; }
  const char* door() const { return door_; }

  // Logs "turned_away" if there is something to say and the last line is old
  // enough. With `at_last` it logs whatever there is.
  void LogIfDue(SteadyTime now, bool at_last = false);

 private:
  struct Counts {
    std::int64_t full = 0;
    std::int64_t address_full = 0;
    std::int64_t too_fast = 0;
    std::int64_t barred = 0;
    std::int64_t no_descriptor = 0;
    std::int64_t cut = 0;
    std::int64_t cut_for_frames = 0;
    std::int64_t evicted = 0;
    bool operator==(const Counts&) const = default;
  };

  const char* const door_;
  // of the last connection cut by its frames
  FrameVerdict frames_ = FrameVerdict::kPass;
  Counts counts_;  // since the last line in the log
  DoorCounts total_;
  std::optional<SteadyTime> logged_;
};

// Finds connections that cancel calls faster than any client that wants an
// answer ("rapid reset", CVE-2023-44487). gRPC begins and frees such calls
// without telling us, and keeps about 18 KiB for each of them meanwhile.
//
// A call is unanswered until its last byte has been sent: it is parked, at
// work, or was cancelled before. A connection is accepted when, since the last
// look at it,
//
//   unanswered now - unanswered then  <=  at_once + per_second * seconds
//
// At 100 a second and 512 at once: 256 calls that are all parked in one second
// are fine; 1,300 that are cancelled within a tenth of one are not.

// How many calls of a connection may go unanswered.
struct ResetLimits {
  double per_second = 100;
  double at_once = 512;  // above the streams of one connection
};

// Calls of one connection since it began.
struct StreamCounts {
  std::int64_t started = 0;
  std::int64_t answered = 0;
};

// Decides which connections to cut for this. Thread-compatible. Times must not
// decrease.
class ResetPolicy {
 public:
  explicit ResetPolicy(const ResetLimits& limits) : limits_(limits) {}

  // Says whether the connection is to be cut. `since` is when it began.
  bool IsFlood(const std::string& peer, SteadyTime since,
               const StreamCounts& counts, SteadyTime now);
  void NoteGone(const std::string& peer);

 private:
  struct Look {
    std::int64_t unanswered = 0;
    SteadyTime at{};
  };

  const ResetLimits limits_;
  std::map<std::string, Look> looks_;  // by peer
};

// Decides how many TLS handshakes go on at once. One costs a core a millisecond
// or two. When thousands of workers come back at the same moment and all begin
// together, no handshake ends in time, all begin again, and nobody gets in. A
// few at a time get in one after the other, while the others wait in the
// kernel's queue.
//
//   while (pace.MayBegin()) { accept; pace.NoteBegun(peer, now); }
//   pace.NoteOver(peer);        it has its connection, or has gone
//   pace.Forget(now);           who takes too long holds up nobody
//
// Whoever connects and then says nothing is forgotten after half a second. When
// more are forgotten than end, these are no workers coming back, and are
// forgotten at once.

// How many handshakes may go on, and how long each may take.
struct PaceLimits {
  std::size_t at_once = 64;
  Duration patience = std::chrono::milliseconds(500);
  Duration little_patience = std::chrono::milliseconds(20);
};

// The handshakes that are under way, and how long each may still take: the more
// of them never end, the less. Thread-compatible. Times must not decrease.
class HandshakePace {
 public:
  explicit HandshakePace(const PaceLimits& limits = {}) : limits_(limits) {}

  bool MayBegin() const { return under_way_.size() < limits_.at_once; }
  bool IsIdle() const { return under_way_.empty(); }

  // `peer` is a name that no other connection has.
  void NoteBegun(const std::string& peer, SteadyTime now);
  void NoteOver(const std::string& peer);
  void Forget(SteadyTime now);

 private:
  Duration Patience() const;

  const PaceLimits limits_;
  std::map<std::string, SteadyTime> under_way_;  // when each began
  // How many handshakes ended, and how many were forgotten; both numbers fade.
  double ended_ = 0;
  double forgotten_ = 0;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_DOOR_POLICY_H_
