// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/cuda_driver.h"

#include <dlfcn.h>

#include <array>

namespace frostline::trainer {
namespace {

constexpr int kDone = 0;  // of both libraries

// CUdevice_attribute.
constexpr int kClockKhz = 13;
constexpr int kProcessors = 16;
constexpr int kMajor = 75;
constexpr int kMinor = 76;

constexpr double kMillijoulesPerJoule = 1e3;
constexpr double kKhzPerGhz = 1e6;

// A C library that may or may not be on this machine, loaded while running.
// Stays loaded until the process ends: what CUDA starts has no way back.
class SharedLibrary {
 public:
  explicit SharedLibrary(const char* name)
      : handle_(dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {}

  bool loaded() const { return handle_ != nullptr; }

  // False when there is no `name`.
  template <typename Function>
  bool Find(const char* name, Function*& function) const {
    if (handle_ == nullptr) return false;
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_;
};

// libcuda: it comes with the driver, not with a toolkit.
class Driver {
 public:
  static const Driver& Get() {
    static const Driver driver;
    return driver;
  }

  int Count() const {
    int count = 0;
    return ready_ && count_(&count) == kDone ? count : 0;
  }

  std::optional<Gpu> At(int index) const {
    int device = 0;
    if (index < 0 || index >= Count() || device_(&device, index) != kDone) {
      return std::nullopt;
    }
    Gpu gpu;
    std::array<char, 256> text = {};
    if (name_(text.data(), static_cast<int>(text.size()), device) == kDone) {
      gpu.name = text.data();
    }
    text = {};
    if (bus_id_(text.data(), static_cast<int>(text.size()), device) == kDone) {
      gpu.bus_id = text.data();
    }
    gpu.major = Attribute(kMajor, device);
    gpu.minor = Attribute(kMinor, device);
    gpu.processors = Attribute(kProcessors, device);
    gpu.clock_ghz = Attribute(kClockKhz, device) / kKhzPerGhz;
    return gpu;
  }

 private:
  Driver() : library_("libcuda.so.1") {
    int (*start)(unsigned) = nullptr;
    ready_ = library_.Find("cuInit", start) &&
             library_.Find("cuDeviceGetCount", count_) &&
             library_.Find("cuDeviceGet", device_) &&
             library_.Find("cuDeviceGetName", name_) &&
             library_.Find("cuDeviceGetPCIBusId", bus_id_) &&
             library_.Find("cuDeviceGetAttribute", attribute_) &&
             start(0) == kDone;
  }

  int Attribute(int which, int device) const {
    int value = 0;
    return attribute_(&value, which, device) == kDone ? value : 0;
  }

  SharedLibrary library_;
  bool ready_ = false;
  int (*count_)(int*) = nullptr;
  int (*device_)(int*, int) = nullptr;
  int (*name_)(char*, int, int) = nullptr;
  int (*bus_id_)(char*, int, int) = nullptr;
  int (*attribute_)(int*, int, int) = nullptr;
};

// libnvidia-ml: it comes with the driver too, but a container may lack it.
class Nvml {
 public:
  static const Nvml& Get() {
    static const Nvml nvml;
    return nvml;
  }

  std::optional<std::uint64_t> FreeBytesOf(const std::string& bus_id) const {
    void* device = nullptr;
    std::array<unsigned long long, 3> memory = {};  // all, free, used
    if (!ready_ || memory_ == nullptr ||
        handle_(bus_id.c_str(), &device) != kDone ||
        memory_(device, memory.data()) != kDone) {
      return std::nullopt;
    }
    return memory[1];
  }

  std::optional<double> EnergyOf(const std::string& bus_id) const {
    void* device = nullptr;
    unsigned long long millijoules = 0;
    if (!ready_ || handle_(bus_id.c_str(), &device) != kDone ||
        energy_(device, &millijoules) != kDone) {
      return std::nullopt;
    }
    return static_cast<double>(millijoules) / kMillijoulesPerJoule;
  }

 private:
  Nvml() : library_("libnvidia-ml.so.1") {
    int (*start)() = nullptr;
    ready_ = library_.Find("nvmlInit_v2", start) &&
             library_.Find("nvmlDeviceGetHandleByPciBusId_v2", handle_) &&
             library_.Find("nvmlDeviceGetTotalEnergyConsumption", energy_) &&
             start() == kDone;
    (void)library_.Find("nvmlDeviceGetMemoryInfo", memory_);
  }

  SharedLibrary library_;
  bool ready_ = false;
  int (*memory_)(void*, unsigned long long*) = nullptr;
  int (*handle_)(const char*, void**) = nullptr;
  int (*energy_)(void*, unsigned long long*) = nullptr;
};

// fp32 lanes of one multiprocessor, from the programming guide's table.
int LanesOf(const Gpu& gpu) {
  if (gpu.major == 7 || (gpu.major == 8 && gpu.minor == 0)) return 64;
  return gpu.major >= 8 ? 128 : 0;
}

}  // namespace

int CountGpus() { return Driver::Get().Count(); }

std::optional<Gpu> GpuAt(int index) { return Driver::Get().At(index); }

double PeakGflops(const Gpu& gpu) {
  constexpr double kPerLane = 2.0;  // a multiplication and an addition
  return gpu.processors * gpu.clock_ghz * LanesOf(gpu) * kPerLane;
}

std::optional<std::uint64_t> FreeBytesOf(const std::string& bus_id) {
  return Nvml::Get().FreeBytesOf(bus_id);
}

std::optional<double> EnergyOf(const std::string& bus_id) {
  return Nvml::Get().EnergyOf(bus_id);
}

}  // namespace frostline::trainer
