// SPDX-License-Identifier: Apache-2.0
//
// File: handshake_pace.h
//
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
#ifndef FROSTLINE_SERVER_RPC_HANDSHAKE_PACE_H_
#define FROSTLINE_SERVER_RPC_HANDSHAKE_PACE_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"

namespace frostline::server {

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

#endif  // FROSTLINE_SERVER_RPC_HANDSHAKE_PACE_H_
