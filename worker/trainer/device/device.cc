// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/device.h"

#include <ATen/Context.h>
#include <ATen/ops/mm.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace frostline::trainer {
namespace {

constexpr int kZen4Family = 25;  // and Zen 3, which has no AVX-512

std::string TrimmedField(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(
      text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

}  // namespace

bool CpuInfo::does_bf16_well() const {
  // The last is Arm's, where x86 has no flag of that name.
  return flags.contains("amx_bf16") || flags.contains("avx512_bf16") ||
         flags.contains("bf16");
}

int CpuInfo::lanes() const {
  if (flags.contains("avx512f")) {
    // Zen 4 takes 512 bits in two passes of 256.
    return vendor == "AuthenticAMD" && family <= kZen4Family ? 8 : 16;
  }
  return flags.contains("avx2") ? 8 : 4;
}

CpuInfo ParseCpuInfo(std::string_view text) {
  constexpr double kMhzPerGhz = 1e3;
  CpuInfo info;
  std::set<std::pair<std::string, std::string>> cores;
  std::string socket;
  int processors = 0;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key =
        TrimmedField(std::string_view(line).substr(0, colon));
    const std::string value =
        TrimmedField(std::string_view(line).substr(colon + 1));
    if (key == "processor") ++processors;
    if (key == "vendor_id") info.vendor = value;
    if (key == "cpu family") info.family = std::atoi(value.c_str());
    if (key == "cpu MHz") {
      info.clock_ghz =
          std::max(info.clock_ghz, std::atof(value.c_str()) / kMhzPerGhz);
    }
    if (key == "physical id") socket = value;
    if (key == "core id") cores.emplace(socket, value);
    if (key == "flags" || key == "Features") {
      std::istringstream words(value);
      info.flags.insert(std::istream_iterator<std::string>(words), {});
    }
  }
  info.cores = cores.empty() ? processors : static_cast<int>(cores.size());
  return info;
}

CpuInfo ReadCpuInfo() {
  std::ifstream file("/proc/cpuinfo");
  return ParseCpuInfo(std::string(std::istreambuf_iterator<char>(file), {}));
}

double PeakGflops(const CpuInfo& info, int threads) {
  constexpr double kUnits = 2.0;
  constexpr double kPerLane = 2.0;
  return std::min(threads, info.cores) * info.clock_ghz * info.lanes() *
         kUnits * kPerLane;
}

namespace {

// LibTorch's allocator of main memory, which counts. A block is as large as
// malloc made it, so that what is freed is what was counted.
class CountingAllocator final : public c10::Allocator {
 public:
  static CountingAllocator& Only() {
    static auto* const only = new CountingAllocator;  // as long as tensors live
    return *only;
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    void* const block = under_.raw_allocate(bytes);
    const std::int64_t now = now_ += SizeOf(block);
    std::int64_t peak = peak_;
    while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
    }
    return {block, block, &Free, at::Device(at::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Free; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  std::int64_t peak() const { return peak_; }
  void ResetPeak() { peak_ = now_.load(); }

 private:
  static std::int64_t SizeOf(void* block) {
    return static_cast<std::int64_t>(malloc_usable_size(block));
  }
  static void Free(void* block) {
    Only().now_ -= SizeOf(block);
    Only().under_.raw_deallocate(block);
  }

  c10::Allocator& under_ = *c10::GetDefaultCPUAllocator();
  std::atomic<std::int64_t> now_ = 0;
  std::atomic<std::int64_t> peak_ = 0;
};

}  // namespace

void CountTensorBytes() { c10::SetCPUAllocator(&CountingAllocator::Only()); }

std::int64_t PeakTensorBytes() { return CountingAllocator::Only().peak(); }

void ResetPeakTensorBytes() { CountingAllocator::Only().ResetPeak(); }

bool KeepFreedMemory() {
#if defined(M_MMAP_THRESHOLD) && defined(M_TRIM_THRESHOLD)
  constexpr int kNever = -1;
  // The most that glibc allows. What is larger than any layer's weights, as a
  // batch that does not fit, goes back whole: kept, it would be a hole that
  // nobody else can fill.
  constexpr int kLargest = 32 << 20;
  return mallopt(M_MMAP_THRESHOLD, kLargest) == 1 &&
         mallopt(M_TRIM_THRESHOLD, kNever) == 1;
#else
  return false;
#endif
}

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

namespace {

constexpr std::string_view kLinked = "/libtorch_cpu.so";

// The folder of the LibTorch that this process runs with.
std::string TorchFolder() {
  std::string folder;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* found) {
        const std::string_view path = library->dlpi_name;
        if (!path.ends_with(kLinked)) return 0;
        *static_cast<std::string*>(found) =
            path.substr(0, path.size() - kLinked.size());
        return 1;
      },
      &folder);
  return folder;
}

Fault NoCuda(const std::string& cause) {
  return {FaultKind::kUnsupported, cause,
          "build with the LibTorch of a pip-installed torch with CUDA "
          "(-DFROSTLINE_LIBTORCH=DIR), or ask for the device cpu"};
}

// Its registrations are what the interfaces below find. All symbols at once:
// a library that does not fit is to fail here, not in the middle of a trial.
Expected<Done> LoadTorchCuda() {
  const std::string path = TorchFolder() + "/libtorch_cuda.so";
  static void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle != nullptr) return Done{};
  const char* words = dlerror();
  static const std::string cause = words == nullptr ? "" : words;
  return NoCuda("this LibTorch cannot use a GPU: " + cause);
}

#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 9
c10::DeviceAllocator& AllocatorOf(at::Device gpu) {
  return *c10::getDeviceAllocator(gpu.type());
}
#endif

}  // namespace

Expected<Done> StartTorchCuda(int index) {
  Expected<Done> loaded = LoadTorchCuda();
  if (!loaded.ok()) return loaded;
  try {
    const at::Device gpu(at::kCUDA, static_cast<c10::DeviceIndex>(index));
    at::globalContext().setFloat32MatmulPrecision("highest");
    // Starts the driver's context, the allocator and the random generator.
    at::globalContext().defaultGenerator(gpu);
    WaitFor(gpu);
  } catch (const std::exception& error) {
    const Fault fault = TorchFault(error);
    return fault.kind == FaultKind::kOutOfMemory ? fault : NoCuda(fault.cause);
  }
  return Done{};
}

std::int64_t PeakBytesOf([[maybe_unused]] at::Device gpu) {
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 9
  return AllocatorOf(gpu).getDeviceStats(gpu.index()).allocated_bytes[0].peak;
#else
  return 0;
#endif
}

void ResetPeakOf([[maybe_unused]] at::Device gpu) {
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 9
  AllocatorOf(gpu).resetPeakStats(gpu.index());
#endif
}

void WaitFor(at::Device gpu) {
  c10::impl::getDeviceGuardImpl(gpu.type())->synchronizeDevice(gpu.index());
}

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
  CountTensorBytes();
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
  RETURN_IF_FAULT(StartTorchCuda(index));
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
  is_cpu() ? ResetPeakTensorBytes() : ResetPeakOf(torch_);
}

std::int64_t Device::PeakMemoryBytes() const {
  return is_cpu() ? PeakTensorBytes() : PeakBytesOf(torch_);
}

std::optional<double> Device::EnergyJoules() const {
  return is_cpu() ? std::nullopt : EnergyOf(bus_id_);
}

std::optional<std::uint64_t> Device::FreeMemoryBytes() const {
  return is_cpu() ? std::nullopt : FreeBytesOf(bus_id_);
}

void Device::Synchronize() const {
  if (!is_cpu()) WaitFor(torch_);
}

bool IsOutOfMemory(const std::exception& error) {
  return TorchFault(error).kind == FaultKind::kOutOfMemory;
}

LateNumbers::LateNumbers(const at::Tensor& numbers) : here_(numbers) {
  if (numbers.is_cpu()) return;
  // Into pinned memory, or the copy would wait for the GPU.
  here_ = at::empty(numbers.sizes(), at::TensorOptions(numbers.scalar_type())
                                         .device(at::kCPU)
                                         .pinned_memory(true));
  here_.copy_(numbers, /*non_blocking=*/true);
  const at::Device device = numbers.device();
  const c10::impl::VirtualGuardImpl guard(device.type());
  arrived_.emplace(device.type());
  arrived_->record(guard.getStream(device));
}

std::vector<double> LateNumbers::Read() const {
  if (arrived_) arrived_->synchronize();
  const double* first = here_.const_data_ptr<double>();
  return {first, first + here_.numel()};
}

namespace {

// GNU's, Intel's and LLVM's; wheels put a hash behind the name.
bool IsOpenMp(std::string_view file) {
  for (const std::string_view name : {"libgomp", "libiomp5", "libomp"}) {
    if (!file.starts_with(name)) continue;
    const std::string_view rest = file.substr(name.size());
    if (rest.starts_with(".so") || rest.starts_with("-")) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> OpenMpRuntimes(std::string_view maps) {
  std::set<std::string> found;
  std::istringstream lines{std::string(maps)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    const std::size_t file = line.rfind('/') + 1;
    if (IsOpenMp(std::string_view(line).substr(file))) {
      found.insert(line.substr(path));
    }
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> OpenMpRuntimes() {
  std::ifstream maps("/proc/self/maps");
  return OpenMpRuntimes(std::string(std::istreambuf_iterator<char>(maps), {}));
}

double MeasureGflops(const Device& device, Precision precision,
                     std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  constexpr double kPerGiga = 1e9;
  // Enough to keep every core or multiprocessor busy, and no more than a
  // second where there is no BLAS at all.
  const std::int64_t size = device.is_cpu() ? 1024 : 4096;
  const at::ScalarType dtype = HalfOf(precision).value_or(at::kFloat);
  const at::NoGradGuard no_graph;
  const at::Tensor factor =
      at::ones({size, size}, at::TensorOptions(device.torch()).dtype(dtype));
  const double operations = 2.0 * static_cast<double>(size) *
                            static_cast<double>(size) *
                            static_cast<double>(size);
  at::mm(factor, factor);  // starts threads, chooses kernels
  device.Synchronize();
  double best = 0.0;
  const Clock::time_point end = Clock::now() + time;
  do {
    const Clock::time_point start = Clock::now();
    at::mm(factor, factor);
    device.Synchronize();
    const std::chrono::duration<double> seconds = Clock::now() - start;
    best = std::max(best, operations / seconds.count() / kPerGiga);
  } while (Clock::now() < end);
  return best;
}

}  // namespace frostline::trainer
