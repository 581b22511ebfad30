// SPDX-License-Identifier: Apache-2.0
//
// File: allocations.h
//
// What a piece of work asks of memory, counted: how often, and how much at
// once. The same on a slow machine as on a fast one, so that a test can say
// that work stays within bounds. Of all threads together; nothing is counted
// where a sanitizer watches, which has its own operators.
#ifndef FROSTLINE_TESTS_IMPORTANCE_ALLOCATIONS_H_
#define FROSTLINE_TESTS_IMPORTANCE_ALLOCATIONS_H_

#include <cstdint>
#include <functional>
#include <stop_token>

namespace frostline::importance {

struct Allocations {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;       // in all
  std::int64_t most_bytes = 0;  // held at one time, beyond those held before
  std::int64_t largest = 0;     // of one call
};

Allocations AllocationsOf(const std::function<void()>& work);

// Requests the stop when `work` asks for the so manyeth time, and counts what
// it asks for after that; nothing when it ends before.
Allocations AllocationsAfterStop(std::int64_t at_call, std::stop_source& stop,
                                 const std::function<void()>& work);

}  // namespace frostline::importance

#endif  // FROSTLINE_TESTS_IMPORTANCE_ALLOCATIONS_H_
