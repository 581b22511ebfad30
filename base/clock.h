// SPDX-License-Identifier: Apache-2.0
//
// File: clock.h
//
// Time comes in by the door. Whoever needs it takes a Clock&; tests hand in
// tests/support/fake_clock.h. Two times that must never be mixed:
//   - steady time judges leases and deadlines. It counts through suspend and
//     cannot be set, but means nothing after a restart.
//   - wall time is for people to read. No decision depends on it.
#ifndef FROSTLINE_BASE_CLOCK_H_
#define FROSTLINE_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <string>

namespace frostline {

// Since an arbitrary origin (boot, for SystemClock).
using SteadyTime = std::chrono::nanoseconds;
using Duration = std::chrono::nanoseconds;

// Microseconds since 1970-01-01 UTC; the form in which times are stored.
using WallMicros = std::int64_t;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime Steady() const = 0;
  virtual WallMicros Wall() const = 0;
};

// Thread-safe and stateless.
class SystemClock final : public Clock {
 public:
  SteadyTime Steady() const override;
  WallMicros Wall() const override;
};

// "2026-11-21T06:07:34.123456Z"
std::string FormatWall(WallMicros time);

}  // namespace frostline

#endif  // FROSTLINE_BASE_CLOCK_H_
