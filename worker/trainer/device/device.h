// SPDX-License-Identifier: Apache-2.0
//
// File: device.h
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

// Copies are the same device. Any thread may ask it.
class Device {
 public:
  // "auto" is a GPU when one is there and this LibTorch can use it, else the
  // processor; others are "cpu", "cuda", the first GPU, and "cuda:N". Returns
  // kUnsupported, with the cause, for a named GPU that cannot be had, kMisuse
  // for another name. Call it before all else of LibTorch, which looks for its
  // CUDA half once.
  static Expected<Device> Open(std::string_view name);

  at::Device torch() const { return torch_; }
  bool is_cpu() const { return torch_.is_cpu(); }
  // It is "cpu", or as the driver calls it: "NVIDIA H200".
  std::string name() const { return name_; }
  bool does_bf16_well() const { return bf16_; }
  bool does_fp16_well() const { return fp16_; }
  // Says why "auto" did not take the GPU that is there, if so.
  std::string note() const { return note_; }
  // Returns the most fp32 operations by second, in 1e9, or 0 when unknown.
  double PeakGflops(int threads) const;

  // Understands "auto" (bf16 where the device does it well, else fp16 where it
  // does that), "fp32", "tf32", "bf16" and "fp16". Returns kUnsupported for
  // tf32 where the device has none, and kMisuse for another word.
  Expected<Precision> Choose(std::string_view wanted) const;
  // From here on fp32 products of this process are TF32, or are not.
  void Multiply(Precision precision) const;

  // Throws what LibTorch throws.
  at::Generator MakeGenerator(std::uint64_t seed) const;

  // Counts the most held at once since the reset, of main memory (where Linux
  // lets it be reset) or, as its allocator counts, of the GPU's. It is 0 when
  // unknown.
  void ResetPeakMemory();
  std::int64_t PeakMemoryBytes() const;

  // Counts the whole GPU since its driver was loaded; a processor, or no NVML,
  // has nothing.
  std::optional<double> EnergyJoules() const;

  // Of a GPU's memory, what no process holds; nothing where that is not known.
  std::optional<std::uint64_t> FreeMemoryBytes() const;

  // Gives back, after a lack of memory, what LibTorch and malloc keep.
  void ReleaseCachedMemory();

  void Synchronize() const;

 private:
  Device() = default;
  static Expected<Device> OpenGpu(int index);
  static Device Processor();

  at::Device torch_ = at::Device(at::kCPU);
  std::string name_ = "cpu";
  bool bf16_ = false;
  bool fp16_ = false;
  bool tf32_ = false;
  std::string note_;
  double gpu_gflops_ = 0.0;
  std::string bus_id_;  // of a GPU, for NVML
};

// LibTorch, CUDA's libraries or the standard library said so.
bool IsOutOfMemory(const std::exception& error);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_DEVICE_H_
