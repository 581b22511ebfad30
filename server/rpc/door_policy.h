// SPDX-License-Identifier: Apache-2.0
//
// File: door_policy.h
//
// Says which new connections come in: it counts those of each house (see
// peer_address.h), and lets a house open so many at once, then so many a
// second. It holds no socket; doorkeeper.h does what it says.
//
//   if (policy.Judge(from, now) == DoorVerdict::kWelcome) {
//     policy.NoteAdmitted(from, now);
//     ...
//   }
#ifndef FROSTLINE_SERVER_RPC_DOOR_POLICY_H_
#define FROSTLINE_SERVER_RPC_DOOR_POLICY_H_

#include <cstddef>
#include <map>
#include <string>

#include "base/clock.h"
#include "server/rpc/peer_address.h"

namespace frostline::server {

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_DOOR_POLICY_H_
