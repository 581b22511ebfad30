// SPDX-License-Identifier: Apache-2.0
//
// File: cuda_driver.h
//
// What the NVIDIA driver says about its GPUs, asked through its C interface,
// whose numbers have not changed since CUDA 4. So that no CUDA header or
// library is needed to build, nor to find out that there is no GPU.
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_CUDA_DRIVER_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_CUDA_DRIVER_H_

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
};

// How many GPUs CUDA_VISIBLE_DEVICES leaves us; 0 without a driver.
int CountGpus();

// In the order in which LibTorch numbers them; nothing beyond their count.
std::optional<Gpu> GpuAt(int index);

// fp32 multiplications and additions by second, at most, in 1e9; 0 for a GPU
// whose lanes we do not know.
double PeakGflops(const Gpu& gpu);

// What the GPU has used since its driver was loaded, in joules, as NVML counts
// it; nothing when it does not.
std::optional<double> EnergyOf(const std::string& bus_id);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_CUDA_DRIVER_H_
