// SPDX-License-Identifier: Apache-2.0
//
// File: store_pause.h
//
// Says whether a store that found no room is to be asked again: not for 100 ms
// after it refused a group, then for twice as long each time, up to 5 s. Each
// attempt costs what the group has done in memory, which is loaded again.
#ifndef FROSTLINE_SERVER_LOOP_STORE_PAUSE_H_
#define FROSTLINE_SERVER_LOOP_STORE_PAUSE_H_

#include <algorithm>
#include <chrono>

#include "absl/status/status.h"
#include "base/clock.h"

namespace frostline::server {

// It is not thread-safe.
class StorePause {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(100);
  static constexpr Duration kLongest = std::chrono::seconds(5);

  void Refused(const absl::Status& why, SteadyTime now) {
    why_ = why;
    length_ = std::clamp(2 * length_, kFirst, kLongest);
    until_ = now + length_;
  }
  // A group was stored.
  void Stored() { *this = StorePause(); }

  // Returns what the store said, or OK when it may be asked.
  absl::Status WhyNot(SteadyTime now) const {
    return now < until_ ? why_ : absl::OkStatus();
  }

 private:
  absl::Status why_;
  Duration length_{};
  SteadyTime until_{};
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_STORE_PAUSE_H_
