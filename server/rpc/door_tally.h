// SPDX-License-Identifier: Apache-2.0
//
// File: door_tally.h
#ifndef FROSTLINE_SERVER_RPC_DOOR_TALLY_H_
#define FROSTLINE_SERVER_RPC_DOOR_TALLY_H_

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "server/rpc/door_policy.h"

namespace frostline::server {

// Counts who was turned away since that was last said. Floods make a line every
// ten seconds, not one for each connection.
class DoorTally {
 public:
  explicit DoorTally(const char* door) : door_(door) {}

  void NoteTurnedAway(DoorVerdict why);
  void NoteNoDescriptor() { ++counts_.no_descriptor; }
  void NoteCut() { ++counts_.cut; }  // it cancelled calls without end
  void NoteEvicted() {
    ++counts_.evicted;
  }  // it had not called, and all was full

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
    std::int64_t evicted = 0;
    bool operator==(const Counts&) const = default;
  };

  const char* const door_;
  Counts counts_;
  std::optional<SteadyTime> logged_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_DOOR_TALLY_H_
