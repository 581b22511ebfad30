// SPDX-License-Identifier: Apache-2.0
//
// File: door_policy.h
//
// Says which new connections come in: it counts those of each house (see
// door_policy.h), and lets a house open so many at once, then so many a
// second. It holds no socket; doorkeeper.h does what it says.
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

struct PeerAddress {
  // The same for all that one machine can choose from: an IPv4 address, the
  // first 64 bits of an IPv6 one, or "local".
  std::string house = "";
  // It is on this machine: loopback, or a Unix socket.
  bool is_local = false;
  // It is what gRPC calls it: "ipv4:10.0.0.7:4321", "ipv6:%5B::1%5D:4321". All
  // peers at Unix sockets are "unix:".
  std::string text = "";
};

// An IPv4 address inside of an IPv6 one is the former.
PeerAddress PeerAddressOf(const sockaddr_storage& address);

// So many new ones at once, and then so many a second.
struct NewcomerRate {
  double per_second;
  double at_once;
};

struct DoorLimits {
  // In total, and no more than the process's limit on descriptors allows; 0: as
  // many as that.
  std::size_t connections = 0;
  // Of another machine, or of all behind its address translation.
  std::size_t per_address = 4096;
  // Of this machine; 0: three quarters of all, so that a program here cannot
  // shut out other machines.
  std::size_t local = 0;
  NewcomerRate rate = {.per_second = 256, .at_once = 1024};
  NewcomerRate local_rate = {.per_second = 5'000, .at_once = 20'000};
  // Another machine's house gets in again so long after one of its connections
  // was cut.
  Duration barred = std::chrono::seconds(10);
};

// How many connections leave enough descriptors for the database, backups and
// logs, where `open` of `limit` are in use; at least one.
std::size_t ConnectionsFor(std::size_t limit, std::size_t open);

enum class DoorVerdict { kWelcome, kFull, kAddressFull, kTooFast, kBarred };

// It is thread-compatible. Times do not decrease.
class DoorPolicy {
 public:
  // `limits.connections` is above 0.
  explicit DoorPolicy(const DoorLimits& limits);

  DoorVerdict Judge(const PeerAddress& from, SteadyTime now) const;
  void NoteAdmitted(const PeerAddress& from, SteadyTime now);
  void NoteGone(const PeerAddress& from);
  void NoteCut(const PeerAddress& from, SteadyTime now);
  // Forgets houses of which a new one would be judged alike.
  void Forget(SteadyTime now);

  std::size_t connections() const { return connections_; }
  std::size_t houses() const { return houses_.size(); }

 private:
  struct House {
    bool is_local = false;
    std::size_t connections = 0;
    double tokens = 0;
    SteadyTime counted{};  // when there were so many tokens
    SteadyTime barred_until{};
  };

  const NewcomerRate& RateOf(const House& house) const;
  double TokensOf(const House& house, SteadyTime now) const;
  House& Remember(const PeerAddress& from, SteadyTime now);

  const DoorLimits limits_;
  std::size_t connections_ = 0;
  std::map<std::string, House> houses_;
};

// Since the start; any thread may read.
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

// Counts who was turned away since that was last said. Floods make a line every
// ten seconds, not one for each connection.
class DoorTally {
 public:
  explicit DoorTally(const char* door) : door_(door) {}

  void NoteTurnedAway(DoorVerdict why);
  void NoteAccepted() { total_.accepted.Add(); }
  void NoteNoDescriptor();
  void NoteCut(FrameVerdict why);
  void NoteEvicted();  // it had not called, and all was full
  void NoteOpen(std::size_t connections) {
    total_.open.Set(static_cast<std::int64_t>(connections));
  }
  const DoorCounts& total() const { return total_; }
  const char* door() const { return door_; }

  // Logs "turned_away" if there is something to say and the last line is old
  // enough, or whatever there is where `at_last`.
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
  FrameVerdict frames_ = FrameVerdict::kPass;  // of the last cut for them
  Counts counts_;                              // since the last line
  DoorCounts total_;
  std::optional<SteadyTime> logged_;
};

// Says which connections cancel calls faster than anybody does who wants an
// answer ("rapid reset", CVE-2023-44487). gRPC begins and frees such calls
// without a word to us, and keeps about 18 KiB of each meanwhile.
//
// A call is unanswered until its last byte has been sent: parked, at work, or
// cancelled before. Of a connection since it was looked at last:
//
//   unanswered now - unanswered then  <=  at_once + per_second * seconds
//
// At 100 a second and 512 at once: 256 calls that are all parked in one second
// are fine; 1,300 that are cancelled within a tenth of one are not.

struct ResetLimits {
  double per_second = 100;
  double at_once = 512;  // above the streams of a connection
};

// Of one connection, since it began.
struct StreamCounts {
  std::int64_t started = 0;
  std::int64_t answered = 0;
};

// It is thread-compatible. Times do not decrease.
class ResetPolicy {
 public:
  explicit ResetPolicy(const ResetLimits& limits) : limits_(limits) {}

  // Whether the connection is to be cut. `since` is when it began.
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

// Says how many handshakes of TLS go on at once. One costs a core a millisecond
// or two. When a fleet of thousands comes back at once and all begin together,
// none ends in its time, all begin again, and nobody gets in; a few at a time
// get in one after the other, while the others wait in the kernel's queue.
//
//   while (pace.MayBegin()) { accept; pace.NoteBegun(peer, now); }
//   pace.NoteOver(peer);        it has its connection, or has gone
//   pace.Forget(now);           who takes too long holds up nobody
//
// Who connects and then says nothing is forgotten after half a second. Where
// more are forgotten than end, they are no fleet, and are forgotten at once.

struct PaceLimits {
  std::size_t at_once = 64;
  Duration patience = std::chrono::milliseconds(500);
  Duration little_patience = std::chrono::milliseconds(20);
};

// It is thread-compatible. Times do not decrease.
class HandshakePace {
 public:
  explicit HandshakePace(const PaceLimits& limits = {}) : limits_(limits) {}

  bool MayBegin() const { return under_way_.size() < limits_.at_once; }
  bool IsIdle() const { return under_way_.empty(); }

  // A peer's name tells it from all others that are connected.
  void NoteBegun(const std::string& peer, SteadyTime now);
  void NoteOver(const std::string& peer);
  void Forget(SteadyTime now);

 private:
  Duration Patience() const;

  const PaceLimits limits_;
  std::map<std::string, SteadyTime> under_way_;  // since when
  // How many ended, and how many were forgotten: both fade.
  double ended_ = 0;
  double forgotten_ = 0;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_DOOR_POLICY_H_
