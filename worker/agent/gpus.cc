// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "worker/agent/hardware.h"
#include "worker/agent/nvml.h"

namespace frostline::agent {
namespace {

constexpr unsigned kMostGpus = 64;  // the contract's bound
constexpr unsigned kMostPercent = 100;
constexpr unsigned kMostMilliwatts = 100'000'000;
constexpr unsigned kHottest = 1000;
constexpr std::uint64_t kMostGpuBytes = std::uint64_t{1} << 50;
constexpr int kSuccess = 0;
constexpr int kSensorOfTheGpu = 0;

// As NVML's programming interface has them.
using Device = void*;
struct Utilization {
  unsigned gpu = 0;  // percent
  unsigned memory = 0;
};
struct Memory {
  unsigned long long total = 0;  // NOLINT(google-runtime-int): NVML's own type
  unsigned long long free = 0;   // NOLINT(google-runtime-int)
  unsigned long long used = 0;   // NOLINT(google-runtime-int)
};

struct Closer {
  void operator()(void* library) const { dlclose(library); }
};

}  // namespace

struct Nvml::Calls {
  std::unique_ptr<void, Closer> library;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;

  template <typename Call>
  bool Find(const char* name, Call*& call) const {
    call = reinterpret_cast<Call*>(dlsym(library.get(), name));
    return call != nullptr;
  }
  bool FindAll() {
    return Find("nvmlInit_v2", init) && Find("nvmlShutdown", shutdown) &&
           Find("nvmlDeviceGetCount_v2", count) &&
           Find("nvmlDeviceGetHandleByIndex_v2", handle) &&
           Find("nvmlDeviceGetUUID", uuid) &&
           Find("nvmlDeviceGetUtilizationRates", utilization) &&
           Find("nvmlDeviceGetMemoryInfo", memory) &&
           Find("nvmlDeviceGetPowerUsage", power) &&
           Find("nvmlDeviceGetTemperature", temperature);
  }
  v1::GpuLoad LoadOf(Device device) const;
};

v1::GpuLoad Nvml::Calls::LoadOf(Device device) const {
  v1::GpuLoad gpu;
  std::array<char, 96> name{};  // NVML's own bound
  if (uuid(device, name.data(), name.size() - 1) == kSuccess) {
    gpu.set_uuid(name.data());
  }
  Utilization used;
  if (utilization(device, &used) == kSuccess && used.gpu <= kMostPercent) {
    gpu.set_utilization(used.gpu / static_cast<double>(kMostPercent));
  }
  Memory bytes;
  if (memory(device, &bytes) == kSuccess && bytes.total <= kMostGpuBytes &&
      bytes.used <= bytes.total) {
    gpu.set_memory_used_bytes(static_cast<std::int64_t>(bytes.used));
    gpu.set_memory_total_bytes(static_cast<std::int64_t>(bytes.total));
  }
  unsigned number = 0;
  if (power(device, &number) == kSuccess && number <= kMostMilliwatts) {
    gpu.set_power_watts(number / 1e3);
  }
  if (temperature(device, kSensorOfTheGpu, &number) == kSuccess &&
      number <= kHottest) {
    gpu.set_temperature_celsius(number);
  }
  return gpu;
}

Nvml::Nvml(std::unique_ptr<Calls> calls) : calls_(std::move(calls)) {}

std::unique_ptr<Nvml> Nvml::Open(const std::string& library) {
  auto calls = std::make_unique<Calls>();
  calls->library.reset(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (calls->library == nullptr || !calls->FindAll()) return nullptr;
  if (calls->init() != kSuccess) return nullptr;
  return std::unique_ptr<Nvml>(new Nvml(std::move(calls)));
}

Nvml::~Nvml() { calls_->shutdown(); }

std::vector<v1::GpuLoad> Nvml::Read() const {
  std::vector<v1::GpuLoad> gpus;
  unsigned count = 0;
  if (calls_->count(&count) != kSuccess) return gpus;
  count = std::min(count, kMostGpus);
  gpus.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    // One that has fallen off the bus keeps its place, so that numbers hold.
    gpus.push_back(calls_->handle(i, &device) == kSuccess
                       ? calls_->LoadOf(device)
                       : v1::GpuLoad());
  }
  return gpus;
}

std::vector<v1::GpuLoad> VisibleOnly(const char* visible,
                                     std::vector<v1::GpuLoad> gpus) {
  std::set<std::size_t> seen;
  if (visible == nullptr) {
    for (std::size_t i = 0; i < gpus.size(); ++i) seen.insert(i);
  } else {
    for (const std::string& slot : GpuSlots(visible, v1::Hardware())) {
      std::size_t number = 0;
      const bool is_number = absl::SimpleAtoi(slot, &number);
      for (std::size_t i = 0; i < gpus.size(); ++i) {
        const bool is_it =
            is_number ? i == number : absl::StartsWith(gpus[i].uuid(), slot);
        if (is_it) seen.insert(i);
      }
    }
  }
  std::vector<v1::GpuLoad> ours;
  std::set<std::string> names;
  for (const std::size_t i : seen) {
    const bool has_name =
        !gpus[i].uuid().empty() && names.insert(gpus[i].uuid()).second;
    if (has_name) ours.push_back(std::move(gpus[i]));
  }
  return ours;
}

}  // namespace frostline::agent
