// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/torch_cuda.h"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <link.h>
#include <torch/version.h>

#include <string>
#include <string_view>

namespace frostline::trainer {
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

void ReleaseCacheOf([[maybe_unused]] at::Device gpu) {
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 9
  AllocatorOf(gpu).emptyCache();
#endif
}

void WaitFor(at::Device gpu) {
  c10::impl::getDeviceGuardImpl(gpu.type())->synchronizeDevice(gpu.index());
}

}  // namespace frostline::trainer
