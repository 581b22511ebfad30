// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/node/gpus.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/mutex.h"
#include "proto/rules.h"

namespace frostline::agent {
namespace {

constexpr char kCpuFile[] = "/proc/cpuinfo";

// The value of the first line "key : value" of a file in /proc.
std::string ProcValue(const std::string& path, const std::string& key) {
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name(absl::StripAsciiWhitespace(line.substr(0, colon)));
    if (name == key) {
      return std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
    }
  }
  return "";
}

void AddGpus(const std::string& folder, v1::Hardware* hardware) {
  std::error_code error;
  std::set<std::filesystem::path> paths;  // "0000:18:00.0": sorted by bus
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    paths.insert(entry.path());
  }
  for (const std::filesystem::path& path : paths) {
    const std::string file = (path / "information").string();
    v1::Hardware::Gpu* const gpu = hardware->add_gpus();
    gpu->set_model(ProcValue(file, "Model"));
    gpu->set_uuid(ProcValue(file, "GPU UUID"));
  }
}

}  // namespace

v1::Hardware DetectHardware(const std::string& gpu_folder) {
  v1::Hardware hardware;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) {
    hardware.set_host(host.data());
  }
  hardware.set_cpu(ProcValue(kCpuFile, "model name"));
  hardware.set_cpu_cores(
      static_cast<std::int32_t>(std::thread::hardware_concurrency()));
  hardware.set_memory_bytes(std::int64_t{sysconf(_SC_PHYS_PAGES)} *
                            sysconf(_SC_PAGE_SIZE));
  AddGpus(gpu_folder, &hardware);
  return hardware;
}

std::vector<std::string> GpuSlots(const char* visible,
                                  const v1::Hardware& hardware) {
  if (visible != nullptr) {
    std::vector<std::string> slots;
    for (const absl::string_view entry : absl::StrSplit(visible, ',')) {
      const std::string name(absl::StripAsciiWhitespace(entry));
      // As CUDA does: -1 and the like hide all that follow.
      if (name.empty() || name[0] == '-') break;
      slots.push_back(name);
    }
    return slots;
  }
  std::vector<std::string> slots;
  for (int i = 0; i < hardware.gpus_size(); ++i) {
    slots.push_back(absl::StrCat(i));
  }
  return slots;
}

namespace {

constexpr unsigned kMostPercent = 100;
constexpr unsigned kHottest = 1000;
constexpr int kSuccess = 0;
constexpr int kSensorOfTheGpu = 0;

// As in NVML's header.
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
  static const std::int64_t most_bytes =
      proto::MostOf<v1::GpuLoad>("memory_total_bytes");
  if (memory(device, &bytes) == kSuccess &&
      std::cmp_less_equal(bytes.total, most_bytes) &&
      bytes.used <= bytes.total) {
    gpu.set_memory_used_bytes(static_cast<std::int64_t>(bytes.used));
    gpu.set_memory_total_bytes(static_cast<std::int64_t>(bytes.total));
  }
  unsigned number = 0;
  static const std::int64_t most_milliwatts =
      1'000 * proto::MostOf<v1::GpuLoad>("power_watts");
  if (power(device, &number) == kSuccess &&
      std::cmp_less_equal(number, most_milliwatts)) {
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
  count = std::min(
      count, static_cast<unsigned>(proto::MaxItems<v1::NodeLoad>("gpus")));
  gpus.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    // A GPU that has fallen off the bus keeps its place, so that the numbers of
    // the others stay right.
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

namespace {

using RealTime = std::chrono::steady_clock;  // CondVar waits by it

// A driver that is only slow has answered by then.
constexpr Duration kGpuWatchEndPatience = std::chrono::seconds(2);

// A single late look is no reason to say nothing.
constexpr int kLooksUntilStale = 10;

struct Sum {
  double total = 0;
  int looks = 0;
};

}  // namespace

struct GpuWatch::State {
  Mutex mutex;
  CondVar changed;
  std::vector<v1::GpuLoad> last ABSL_GUARDED_BY(mutex);
  std::map<std::string, Sum> busy ABSL_GUARDED_BY(mutex);  // by uuid
  bool has_news ABSL_GUARDED_BY(mutex) = false;
  v1::NodeLoad told ABSL_GUARDED_BY(mutex);
  RealTime::time_point stale ABSL_GUARDED_BY(mutex) = {};  // from then on
  bool is_unwanted ABSL_GUARDED_BY(mutex) = false;
  bool has_ended ABSL_GUARDED_BY(mutex) = false;  // the thread
};

GpuWatch::GpuWatch(Open open, Duration interval)
    : state_(std::make_shared<State>()),
      thread_([state = state_, open = std::move(open), interval] {
        Loop(*state, open, interval);
        const MutexLock lock(&state->mutex);
        state->has_ended = true;
        state->changed.SignalAll();
      }) {}

GpuWatch::~GpuWatch() {
  bool has_ended = false;
  {
    const MutexLock lock(&state_->mutex);
    state_->is_unwanted = true;
    state_->changed.SignalAll();
    const auto until = RealTime::now() + kGpuWatchEndPatience;
    while (!state_->has_ended &&
           state_->changed.WaitUntil(&state_->mutex, until)) {
    }
    has_ended = state_->has_ended;
  }
  has_ended ? thread_.join() : thread_.detach();
}

void GpuWatch::Loop(State& state, const Open& open, Duration interval) {
  const Look look = open();
  if (look == nullptr) return;
  while (true) {
    std::vector<v1::GpuLoad> seen = look();
    const auto next = RealTime::now() + interval;
    const MutexLock lock(&state.mutex);
    for (const v1::GpuLoad& gpu : seen) {
      if (!gpu.has_utilization()) continue;
      Sum& sum = state.busy[gpu.uuid()];
      sum.total += gpu.utilization();
      ++sum.looks;
    }
    state.last = std::move(seen);
    state.has_news = true;
    state.stale = RealTime::now() + kLooksUntilStale * interval;
    while (!state.is_unwanted && state.changed.WaitUntil(&state.mutex, next)) {
    }
    if (state.is_unwanted) return;
  }
}

std::optional<v1::NodeLoad> GpuWatch::Take() {
  const MutexLock lock(&state_->mutex);
  if (RealTime::now() >= state_->stale) return std::nullopt;
  if (!std::exchange(state_->has_news, false)) return state_->told;
  v1::NodeLoad& load = state_->told;
  load.Clear();
  for (const v1::GpuLoad& gpu : state_->last) {
    v1::GpuLoad& told = *load.add_gpus() = gpu;
    const auto busy = state_->busy.find(gpu.uuid());
    if (busy == state_->busy.end()) continue;
    told.set_utilization(busy->second.total / busy->second.looks);
  }
  state_->busy.clear();
  return load;
}

GpuWatch::Open OpensNvml(const std::string& library, const char* visible) {
  const std::optional<std::string> names =
      visible == nullptr ? std::nullopt : std::optional<std::string>(visible);
  return [library, names]() -> GpuWatch::Look {
    const std::shared_ptr<const Nvml> nvml = Nvml::Open(library);
    if (nvml == nullptr) return nullptr;
    return [nvml, names] {
      return VisibleOnly(names.has_value() ? names->c_str() : nullptr,
                         nvml->Read());
    };
  };
}

}  // namespace frostline::agent
