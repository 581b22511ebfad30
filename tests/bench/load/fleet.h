// SPDX-License-Identifier: Apache-2.0
//
// File: fleet.h
//
// What the virtual workers of one run share. Loop thread only, but for the
// atomics.
#ifndef FROSTLINE_TESTS_BENCH_LOAD_FLEET_H_
#define FROSTLINE_TESTS_BENCH_LOAD_FLEET_H_

#include <atomic>

#include "absl/functional/any_invocable.h"
#include "base/clock.h"
#include "tests/bench/load/event_loop.h"
#include "tests/bench/load/figures.h"
#include "tests/bench/load/history.h"
#include "tests/bench/load/load_options.h"

namespace frostline::bench {

struct Fleet {
  Fleet(LoadOptions what, const Clock& now)
      : options(std::move(what)), clock(now), loop(now) {}

  const LoadOptions options;
  const Clock& clock;
  EventLoop loop;
  Figures figures;
  History history;  // empty unless it is to be kept
  // A worker has registered for the first time.
  absl::AnyInvocable<void()> on_registered;
  // A worker has found its study ended.
  absl::AnyInvocable<void()> on_ended;
  absl::AnyInvocable<void()> on_cycle;

  std::atomic<std::int64_t> cycles{0};
  std::atomic<std::int64_t> held{0};  // trials that are being worked on
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_FLEET_H_
