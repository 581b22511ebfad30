// SPDX-License-Identifier: Apache-2.0
//
// File: must.h
#ifndef FROSTLINE_TESTS_BENCH_STEP_MUST_H_
#define FROSTLINE_TESTS_BENCH_STEP_MUST_H_

#include <cstdlib>
#include <iostream>
#include <utility>

#include "base/plain/result.h"

namespace frostline::bench {

// Ends the program with the cause where there is none.
template <typename T>
T Must(Expected<T> value) {
  if (!value.ok()) {
    std::cerr << "bench step: " << value.fault().cause << "\n";
    std::exit(1);
  }
  return std::move(value).value();
}

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_MUST_H_
