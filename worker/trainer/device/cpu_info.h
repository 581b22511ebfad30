// SPDX-License-Identifier: Apache-2.0
//
// File: cpu_info.h
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_CPU_INFO_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_CPU_INFO_H_

#include <set>
#include <string>
#include <string_view>

namespace frostline::trainer {

struct CpuInfo {
  std::string vendor;  // "GenuineIntel"
  int family = 0;
  double clock_ghz = 0.0;       // of the fastest core as it was read
  int cores = 0;                // each counted once, however many threads
  std::set<std::string> flags;  // "avx2", "avx512_bf16"

  bool does_bf16_well() const;  // faster than fp32
  int lanes() const;            // fp32 numbers in one multiply-add
};

// Reads /proc/cpuinfo; what it does not say stays 0 or empty.
CpuInfo ParseCpuInfo(std::string_view text);
CpuInfo ReadCpuInfo();

// Estimates the most fp32 operations by second, in 1e9, with `threads` at work:
//   min(threads, cores) x clock x lanes x 2 units x 2
// The last stands for a multiplication and an addition. It is 0 when the clock
// is unknown. Clocks change, and a few processors have one unit.
double PeakGflops(const CpuInfo& info, int threads);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_CPU_INFO_H_
