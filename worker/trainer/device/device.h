// SPDX-License-Identifier: Apache-2.0
//
// File: device.h
//
// Where a model computes: the processor or one GPU.
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_DEVICE_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_DEVICE_H_

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "base/plain/result.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// A value: copies are the same device. Any thread may ask it.
class Device {
 public:
  // "auto": a GPU when one is there and this LibTorch can use it, else the
  // processor; "cpu"; "cuda", the first GPU; "cuda:N". kUnsupported, with the
  // cause, for a named GPU that cannot be had; kMisuse for another name. Call
  // it before all else of LibTorch, which looks for its CUDA half once.
  static Expected<Device> Open(std::string_view name);

  at::Device torch() const { return torch_; }
  bool is_cpu() const { return torch_.is_cpu(); }
  // "cpu", or as the driver calls it: "NVIDIA H200".
  std::string name() const { return name_; }
  bool does_bf16_well() const { return bf16_; }
  // Why "auto" did not take the GPU that is there; else empty.
  std::string note() const { return note_; }
  // fp32 operations by second, at most, in 1e9; 0 when unknown.
  double PeakGflops(int threads) const;

  // "auto" (bf16 where the device does it well), "fp32", "bf16"; kMisuse for
  // anything else.
  Expected<Precision> Choose(std::string_view wanted) const;

  // On the device. Throws what LibTorch throws.
  at::Generator MakeGenerator(std::uint64_t seed) const;

  // The most held at once since the reset, of main memory (where Linux lets it
  // be reset) or, as its allocator counts, of the GPU's. 0 when unknown.
  void ResetPeakMemory();
  std::int64_t PeakMemoryBytes() const;

  // Of the whole GPU since its driver was loaded; nothing for a processor, or
  // without NVML.
  std::optional<double> EnergyJoules() const;

  // After a lack of memory: gives back what LibTorch and malloc keep.
  void ReleaseCachedMemory();

  void Synchronize() const;

 private:
  Device() = default;
  static Expected<Device> OpenGpu(int index);
  static Device Processor();

  at::Device torch_ = at::Device(at::kCPU);
  std::string name_ = "cpu";
  bool bf16_ = false;
  std::string note_;
  double gpu_gflops_ = 0.0;
  std::string bus_id_;  // of a GPU, for NVML
};

// On a device that is open.
at::Generator MakeGenerator(at::Device device, std::uint64_t seed);

// Whether LibTorch, CUDA's libraries or the standard library said so.
bool IsOutOfMemory(const std::exception& error);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_DEVICE_H_
