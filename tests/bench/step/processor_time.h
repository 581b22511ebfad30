// SPDX-License-Identifier: Apache-2.0
//
// File: processor_time.h
#ifndef FROSTLINE_TESTS_BENCH_STEP_PROCESSOR_TIME_H_
#define FROSTLINE_TESTS_BENCH_STEP_PROCESSOR_TIME_H_

#include <algorithm>
#include <ctime>
#include <vector>

namespace frostline::bench {

// Returns the processor time of this process, all threads together.
inline double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

template <typename Side>
double SecondsOfStep(Side& side) {
  const double begun = ProcessorSeconds();
  side.Step();
  return ProcessorSeconds() - begun;
}

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_PROCESSOR_TIME_H_
