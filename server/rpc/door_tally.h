// SPDX-License-Identifier: Apache-2.0
//
// File: door_tally.h
#ifndef FROSTLINE_SERVER_RPC_DOOR_TALLY_H_
#define FROSTLINE_SERVER_RPC_DOOR_TALLY_H_

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/metrics.h"
#include "server/rpc/door_policy.h"
#include "server/rpc/frame_filter.h"

namespace frostline::server {

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_DOOR_TALLY_H_
