// SPDX-License-Identifier: Apache-2.0
//
// File: tries.h
//
// When a notification that did not arrive is tried again. It knows no clock and
// no thread.
#ifndef FROSTLINE_SERVER_NOTIFY_TRIES_H_
#define FROSTLINE_SERVER_NOTIFY_TRIES_H_

#include <optional>

#include "base/clock.h"
#include "base/rng.h"

namespace frostline::server {

struct TryRules {
  Duration first = std::chrono::seconds(2);
  Duration longest = std::chrono::hours(1);
  // Counted from the end of the study, also through a restart.
  Duration give_up = std::chrono::hours(24);
};

// The pause after so many failed tries, 1 or more: twice as long each time,
// give or take a half, so that receivers that come back are not met by all at
// once. It is nothing when the next try would come too late.
std::optional<Duration> PauseAfter(int tries, WallMicros ended, WallMicros now,
                                   const TryRules& rules, Rng& rng);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_NOTIFY_TRIES_H_
