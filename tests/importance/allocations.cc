// SPDX-License-Identifier: Apache-2.0
#include "tests/importance/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/support/watched.h"

namespace {

std::atomic<std::int64_t> calls{0};
std::atomic<std::int64_t> bytes{0};
std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> most_live{0};
std::atomic<std::int64_t> largest{0};
// At which call which stop is requested; never at 0.
std::atomic<std::int64_t> stop_at{0};
std::atomic<std::stop_source*> stop_source{nullptr};

}  // namespace

// A sanitizer has operators of its own: nothing is counted then.
#ifndef FROSTLINE_WATCHED
static void Raise(std::atomic<std::int64_t>& to, std::int64_t value) {
  std::int64_t seen = to.load();
  while (value > seen && !to.compare_exchange_weak(seen, value)) {
  }
}

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const auto usable = static_cast<std::int64_t>(malloc_usable_size(memory));
  bytes += usable;
  if (++calls == stop_at.load()) {
    stop_source.load()->request_stop();
    bytes = 0;
  }
  Raise(most_live, live += usable);
  Raise(largest, usable);
  return memory;
}
void operator delete(void* memory) noexcept {
  live -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}
#endif

namespace frostline::importance {

Allocations AllocationsOf(const std::function<void()>& work) {
  const std::int64_t calls_before = calls, bytes_before = bytes;
  const std::int64_t live_before = live;
  most_live = live_before;
  largest = 0;
  work();
  return {calls - calls_before, bytes - bytes_before, most_live - live_before,
          largest};
}

Allocations AllocationsAfterStop(std::int64_t at_call, std::stop_source& stop,
                                 const std::function<void()>& work) {
  stop_source = &stop;
  const std::int64_t at = stop_at = calls + at_call;
  work();
  stop_at = 0;
  if (!stop.stop_requested()) return {};
  return {.calls = calls - at, .bytes = bytes};
}

}  // namespace frostline::importance
