// SPDX-License-Identifier: Apache-2.0
//
// File: other_process.h
#ifndef FROSTLINE_TESTS_BENCH_STEP_OTHER_PROCESS_H_
#define FROSTLINE_TESTS_BENCH_STEP_OTHER_PROCESS_H_

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
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

// Runs one side of a comparison in a process of its own, so that neither has
// the other's allocator settings, caches or threads. They take turns: who asks
// waits, so that only one computes.

// A question is a word and a number, an answer a list of numbers.
struct Question {
  std::int32_t what = 0;
  std::int32_t how = 0;
  std::int64_t number = 0;
};

// One thread uses it.
class OtherProcess {
 public:
  using Answer = std::function<std::vector<double>(const Question&)>;

  // `begin` runs in the other process and says who answers there. Must come
  // before this process has threads. Ends with code 1 when it cannot.
  explicit OtherProcess(const std::function<Answer()>& begin);
  ~OtherProcess();
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  // Ends the program with code 1 when the other one has died.
  std::vector<double> Ask(const Question& question);

 private:
  [[noreturn]] static void Serve(int socket, const Answer& answer);

  int socket_ = -1;
  pid_t child_ = -1;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_OTHER_PROCESS_H_
