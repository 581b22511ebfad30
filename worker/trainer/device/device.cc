// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/device.h"

#include <ATen/Context.h>
#include <malloc.h>

#include <charconv>
#include <utility>

#include "worker/trainer/device/cpu_info.h"
#include "worker/trainer/device/cuda_driver.h"
#include "worker/trainer/device/main_memory.h"
#include "worker/trainer/device/torch_cuda.h"

namespace frostline::trainer {
namespace {

constexpr std::string_view kGpu = "cuda";

Fault NoGpu(std::string cause) {
  return {FaultKind::kUnsupported, std::move(cause),
          "see what nvidia-smi and CUDA_VISIBLE_DEVICES say, or ask for the "
          "device cpu"};
}

Fault BadName(std::string_view name) {
  return {FaultKind::kMisuse,
          "\"" + std::string(name) + "\" is no name of a device",
          "write auto, cpu, cuda or cuda:N"};
}

// "cuda" and "cuda:N" alone; nothing for other names.
std::optional<int> GpuIndex(std::string_view name) {
  if (name == kGpu) return 0;
  if (!name.starts_with("cuda:")) return std::nullopt;
  const std::string_view digits = name.substr(kGpu.size() + 1);
  int index = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool number = error == std::errc() && index >= 0 &&
                      end == digits.data() + digits.size() &&
                      digits.front() != '-';
  return number ? std::optional<int>(index) : std::nullopt;
}

}  // namespace

Device Device::Processor() {
  Device device;
  device.bf16_ = ReadCpuInfo().does_bf16_well();
  return device;
}

Expected<Device> Device::OpenGpu(int index) {
  const std::optional<Gpu> gpu = GpuAt(index);
  if (!gpu) {
    const int count = CountGpus();
    return NoGpu(count == 0 ? "there is no GPU here that CUDA can see"
                            : "there is no GPU " + std::to_string(index) +
                                  "; CUDA sees " + std::to_string(count));
  }
  Expected<Done> started = StartTorchCuda(index);
  if (!started.ok()) return started.fault();
  Device device;
  device.torch_ = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
  device.name_ = gpu->name;
  device.bf16_ = gpu->does_bf16_well();
  device.fp16_ = gpu->does_fp16_well();
  device.tf32_ = gpu->has_tf32();
  device.gpu_gflops_ = frostline::trainer::PeakGflops(*gpu);
  device.bus_id_ = gpu->bus_id;
  return device;
}

Expected<Device> Device::Open(std::string_view name) {
  if (name == "cpu") return Processor();
  if (name == "auto") {
    if (CountGpus() == 0) return Processor();
    Expected<Device> gpu = OpenGpu(0);
    if (gpu.ok() || gpu.fault().kind != FaultKind::kUnsupported) return gpu;
    Device instead = Processor();
    instead.note_ = "there is a GPU, but " + gpu.fault().cause;
    return instead;
  }
  const std::optional<int> index = GpuIndex(name);
  if (!index) return BadName(name);
  return OpenGpu(*index);
}

double Device::PeakGflops(int threads) const {
  return is_cpu() ? frostline::trainer::PeakGflops(ReadCpuInfo(), threads)
                  : gpu_gflops_;
}

Expected<Precision> Device::Choose(std::string_view wanted) const {
  if (wanted == "fp32") return Precision::kFp32;
  if (wanted == "bf16") return Precision::kBf16;
  if (wanted == "fp16") return Precision::kFp16;
  if (wanted == "tf32" && tf32_) return Precision::kTf32;
  if (wanted == "tf32") {
    return Fault{FaultKind::kUnsupported, name_ + " has no TF32",
                 "ask for fp32 or auto, or for a worker with a GPU of "
                 "capability 8.0 or higher"};
  }
  if (wanted == "auto" && bf16_) return Precision::kBf16;
  if (wanted == "auto") return fp16_ ? Precision::kFp16 : Precision::kFp32;
  return Fault{FaultKind::kMisuse,
               "\"" + std::string(wanted) + "\" is no precision",
               "write auto, fp32, tf32, bf16 or fp16"};
}

void Device::Multiply(Precision precision) const {
  if (is_cpu()) return;
  at::globalContext().setFloat32MatmulPrecision(
      precision == Precision::kTf32 ? "high" : "highest");
}

at::Generator Device::MakeGenerator(std::uint64_t seed) const {
  if (is_cpu()) return at::make_generator<at::CPUGeneratorImpl>(seed);
  at::Generator chance = at::globalContext().defaultGenerator(torch_).clone();
  chance.set_current_seed(seed);
  return chance;
}

void Device::ResetPeakMemory() {
  is_cpu() ? ResetPeakResident() : ResetPeakOf(torch_);
}

std::int64_t Device::PeakMemoryBytes() const {
  return is_cpu() ? PeakResidentBytes() : PeakBytesOf(torch_);
}

std::optional<double> Device::EnergyJoules() const {
  return is_cpu() ? std::nullopt : EnergyOf(bus_id_);
}

std::optional<std::uint64_t> Device::FreeMemoryBytes() const {
  return is_cpu() ? std::nullopt : FreeBytesOf(bus_id_);
}

void Device::ReleaseCachedMemory() {
  if (!is_cpu()) ReleaseCacheOf(torch_);
  // What malloc keeps for later is lost to who maps memory himself: oneDNN
  // could then not even make room for a kernel.
  malloc_trim(0);
}

void Device::Synchronize() const {
  if (!is_cpu()) WaitFor(torch_);
}

bool IsOutOfMemory(const std::exception& error) {
  return TorchFault(error).kind == FaultKind::kOutOfMemory;
}

}  // namespace frostline::trainer
