// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/main_memory.h"

#include <malloc.h>

#include <fstream>
#include <string>

namespace frostline::trainer {

std::int64_t PeakResidentBytes() {
  constexpr std::int64_t kBytesPerKib = 1024;
  std::ifstream status("/proc/self/status");
  std::string word;
  std::int64_t kib = 0;
  while (status >> word) {
    if (word == "VmHWM:" && status >> kib) return kib * kBytesPerKib;
  }
  return 0;
}

void ResetPeakResident() {
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5)
}

bool KeepFreedMemory() {
#if defined(M_MMAP_THRESHOLD) && defined(M_TRIM_THRESHOLD)
  constexpr int kNever = -1;
  // The most that glibc allows. What is larger than any layer's weights, as a
  // batch that does not fit, goes back whole: kept, it would be a hole that
  // nobody else can fill.
  constexpr int kLargest = 32 << 20;
  return mallopt(M_MMAP_THRESHOLD, kLargest) == 1 &&
         mallopt(M_TRIM_THRESHOLD, kNever) == 1;
#else
  return false;
#endif
}

}  // namespace frostline::trainer
