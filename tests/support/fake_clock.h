// SPDX-License-Identifier: Apache-2.0
//
// File: fake_clock.h
//
// A clock that stands still until a test moves it. Thread-safe.
#ifndef FROSTLINE_TESTS_SUPPORT_FAKE_CLOCK_H_
#define FROSTLINE_TESTS_SUPPORT_FAKE_CLOCK_H_

#include <atomic>

#include "base/clock.h"

namespace frostline {

class FakeClock final : public Clock {
 public:
  SteadyTime Steady() const override { return SteadyTime(steady_.load()); }
  WallMicros Wall() const override { return wall_.load(); }

  void Advance(Duration by) {
    steady_ += by.count();
    wall_ += by.count() / 1000;
  }
  // Moves wall time alone, as an operator does who sets the date.
  void JumpWall(WallMicros by) { wall_ += by; }

 private:
  std::atomic<std::int64_t> steady_{1'000'000'000};
  std::atomic<WallMicros> wall_{1'767'225'600'000'000};  // 2026-01-01
};

}  // namespace frostline

#endif  // FROSTLINE_TESTS_SUPPORT_FAKE_CLOCK_H_
