// SPDX-License-Identifier: Apache-2.0
//
// File: device.h
//
// Where a model computes: on the processor, or on one GPU. The CUDA half of
// LibTorch is loaded while the program runs, and the NVIDIA driver and NVML are
// asked through their C functions (docs/adr/0009-devices.md).
//
// First come what Linux, the driver and LibTorch say of processor and GPUs,
// then Device, which brings them together, then numbers on their way to main
// memory, autocast, OpenMP runtimes, and how fast a device multiplies.
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_DEVICE_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_DEVICE_H_

#include <ATen/autocast_mode.h>
#include <c10/core/Event.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/model/torch.h"

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

// Counts what tensors take of main memory, of all threads, from now on. Call it
// before there are any: those of before are not counted.
void CountTensorBytes();
// Returns the most that tensors took at once since the last reset; 0 before
// CountTensorBytes.
std::int64_t PeakTensorBytes();
void ResetPeakTensorBytes();

// Lets malloc keep what is freed, blocks of up to 32 MiB, for the next step: a
// step frees its gradients and takes them again, and the kernel would clear
// each of their pages anew. For the whole process; returns false where malloc
// has no such settings.
bool KeepFreedMemory();

// The NVIDIA driver tells of its GPUs through its C interface, unchanged since
// CUDA 4: no CUDA header or library is needed.

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

// Returns the bytes of the GPU's memory that no process holds.
std::optional<std::uint64_t> FreeBytesOf(const std::string& bus_id);

// The CUDA half of LibTorch is reached through interfaces that the half we link
// has for any accelerator (docs/adr/0009-devices.md).

// Loads libtorch_cuda from beside libtorch_cpu and starts GPU `index`, without
// TF32. Returns kUnsupported with the loader's words when something is missing.
Expected<Done> StartTorchCuda(int index);

// The GPU must be started. Before LibTorch 2.9 it is 0.
std::int64_t PeakBytesOf(at::Device gpu);
void ResetPeakOf(at::Device gpu);
void WaitFor(at::Device gpu);

// A processor or GPU to compute on. Copies are the same device. Any thread may
// ask it.
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

  // Counts the most that tensors held at once since the reset, of main memory
  // or of the GPU's, as the allocators of LibTorch count. It is 0 when unknown.
  void ResetPeakMemory();
  std::int64_t PeakMemoryBytes() const;

  // Counts the whole GPU since its driver was loaded; a processor, or no NVML,
  // has nothing.
  std::optional<double> EnergyJoules() const;

  // Returns the bytes of the GPU's memory that no process holds; nothing where
  // that is not known.
  std::optional<std::uint64_t> FreeMemoryBytes() const;

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

// Numbers on their way to main memory. Who reads them waits until a GPU has
// computed them, and not for what was handed to it since. It moves; one thread
// uses it. Both functions throw what LibTorch throws.
class LateNumbers {
 public:
  // `numbers` is [n], of doubles.
  explicit LateNumbers(const at::Tensor& numbers);

  std::vector<double> Read() const;

 private:
  at::Tensor here_;
  std::optional<c10::Event> arrived_;  // of a GPU
};

// LibTorch casts the operands of large products alone to bf16 or fp16; weights
// stay fp32.

// What operands are cast to, if they are.
inline std::optional<at::ScalarType> HalfOf(Precision precision) {
  if (precision == Precision::kBf16) return at::kBFloat16;
  if (precision == Precision::kFp16) return at::kHalf;
  return std::nullopt;
}

// A scope in which this thread computes on `device` in `precision`. Its copies
// of weights go with it, as weights change. Backward must run outside of it.
class Autocast {
 public:
  Autocast(Precision precision, at::Device device)
      : type_(device.type()),
        enabled_(at::autocast::is_autocast_enabled(type_)),
        dtype_(at::autocast::get_autocast_dtype(type_)),
        cached_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::increment_nesting();
    const std::optional<at::ScalarType> half = HalfOf(precision);
    at::autocast::set_autocast_enabled(type_, half.has_value());
    at::autocast::set_autocast_dtype(type_, half.value_or(at::kBFloat16));
    at::autocast::set_autocast_cache_enabled(true);
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, enabled_);
    at::autocast::set_autocast_dtype(type_, dtype_);
    at::autocast::set_autocast_cache_enabled(cached_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType type_;
  bool enabled_;
  at::ScalarType dtype_;
  bool cached_;
};

// Two OpenMP runtimes in one process each start threads of their own: a trainer
// then runs at half its speed, or hangs.

// Finds their paths in `maps`, the text of /proc/PID/maps.
std::vector<std::string> OpenMpRuntimes(std::string_view maps);

std::vector<std::string> OpenMpRuntimes();  // of this process

// Returns operations by second in 1e9: the best of the square products that fit
// into `time`, after one that does not count. Throws what LibTorch throws.
double MeasureGflops(const Device& device, Precision precision,
                     std::chrono::milliseconds time);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_DEVICE_H_
