// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <time.h>

#include <algorithm>
#include <cstdio>

namespace frostline {
namespace {

timespec Read(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return now;
}

}  // namespace

SteadyTime SystemClock::Steady() const {
  // BOOTTIME, not MONOTONIC: a laptop that slept through a lease has lost it.
  const timespec now = Read(CLOCK_BOOTTIME);
  return std::chrono::seconds(now.tv_sec) +
         std::chrono::nanoseconds(now.tv_nsec);
}

WallMicros SystemClock::Wall() const {
  const timespec now = Read(CLOCK_REALTIME);
  return static_cast<WallMicros>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
}

std::string FormatWall(WallMicros time) {
  time_t seconds = time / 1'000'000;
  int micros = static_cast<int>(time % 1'000'000);
  if (micros < 0) {
    micros += 1'000'000;
    --seconds;
  }
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ",
                parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                parts.tm_hour, parts.tm_min, parts.tm_sec, micros);
  return text;
}

namespace {

Duration Scale(Duration duration, double factor) {
  return Duration(static_cast<Duration::rep>(
      static_cast<double>(duration.count()) * factor));
}

}  // namespace

Duration Backoff::Next(Rng& rng) {
  const Duration wait = Scale(ceiling_, 1.0 - rng.Uniform());
  ceiling_ = std::min(2 * ceiling_, longest_);
  return wait;
}

Duration Jitter(Duration mean, double spread, Rng& rng) {
  return Scale(mean, 1.0 + spread * (2.0 * rng.Uniform() - 1.0));
}

}  // namespace frostline
