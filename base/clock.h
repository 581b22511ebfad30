// SPDX-License-Identifier: Apache-2.0
//
// File: clock.h
//
// Time, which comes from outside so that tests can set it
// (tests/support/fake_clock.h). There are two kinds that must never be mixed:
//   - steady time judges leases. It counts through suspend and cannot be set,
//     but means nothing after a restart.
//   - wall time is for people, and for bounds that outlive a restart: a study's
//     budget of time, the expiry of what was deleted.
#ifndef FROSTLINE_BASE_CLOCK_H_
#define FROSTLINE_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "base/rng.h"

namespace frostline {

// Time since an arbitrary origin (the boot, for SystemClock).
using SteadyTime = std::chrono::nanoseconds;
using Duration = std::chrono::nanoseconds;

// Microseconds since 1970-01-01 UTC.
using WallMicros = std::int64_t;

// Where time comes from. Any thread may ask.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime Steady() const = 0;
  virtual WallMicros Wall() const = 0;
};

// The clock of the machine.
class SystemClock final : public Clock {
 public:
  SteadyTime Steady() const override;
  WallMicros Wall() const override;
};

// Returns "2026-11-21T06:07:34.123456Z".
std::string FormatWall(WallMicros time);

// The pauses between the tries of one call. They are random (full jitter), so
// that workers that lost their coordinator do not all come back at once. The
// caller does the sleeping.
class Backoff {
 public:
  Backoff(Duration first, Duration longest)
      : first_(first), longest_(longest), ceiling_(first) {}

  // Returns a pause that is uniform in (0, ceiling]. The ceiling doubles with
  // each call, up to `longest`.
  Duration Next(Rng& rng);
  // Call it after a success.
  void Reset() { ceiling_ = first_; }

 private:
  Duration first_;
  Duration longest_;
  Duration ceiling_;
};

// Returns `mean` times a factor uniform in [1 - spread, 1 + spread].
Duration Jitter(Duration mean, double spread, Rng& rng);

}  // namespace frostline

#endif  // FROSTLINE_BASE_CLOCK_H_
