// SPDX-License-Identifier: Apache-2.0
//
// File: cuda_driver.h
//
// The NVIDIA driver tells of its GPUs through its C interface, unchanged since
// CUDA 4: no CUDA header or library is needed.
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_CUDA_DRIVER_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_CUDA_DRIVER_H_

#include <cstdint>
#include <optional>
#include <string>

namespace frostline::trainer {

struct Gpu {
  std::string name;    // "NVIDIA H200"
  std::string bus_id;  // "0000:17:00.0", by which NVML knows it
  int major = 0;       // its compute capability
  int minor = 0;
  int processors = 0;
  double clock_ghz = 0.0;

  bool does_bf16_well() const { return major >= 8; }
  // Earlier ones take fp16 slower than fp32.
  bool does_fp16_well() const { return major >= 7; }
  bool has_tf32() const { return major >= 8; }
};

// Counts those that CUDA_VISIBLE_DEVICES leaves us, 0 without a driver.
int CountGpus();

// `index` is LibTorch's; nothing lies beyond their count.
std::optional<Gpu> GpuAt(int index);

// Returns the most fp32 operations by second, in 1e9, or 0 for a GPU whose
// lanes we do not know.
double PeakGflops(const Gpu& gpu);

// Counts joules since its driver was loaded; nothing when NVML does not.
std::optional<double> EnergyOf(const std::string& bus_id);

// Of its memory, what no process holds.
std::optional<std::uint64_t> FreeBytesOf(const std::string& bus_id);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_CUDA_DRIVER_H_
