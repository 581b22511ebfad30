// SPDX-License-Identifier: Apache-2.0
//
// A library that stands for the driver's NVML: what its GPUs do is in the file
// that STAND_IN_NVML names, one GPU a line:
//
//   uuid percent used_bytes total_bytes milliwatts celsius
//
// A line "lost" is a GPU that has fallen off the bus. Without the file there is
// no driver.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kNotFound = 6;

struct Gpu {
  std::string uuid;
  unsigned percent = 0;
  std::uint64_t used = 0;
  std::uint64_t total = 0;
  unsigned milliwatts = 0;
  unsigned celsius = 0;
};

std::vector<Gpu> gpus;

bool ReadAll() {
  const char* const path = std::getenv("STAND_IN_NVML");
  std::ifstream file(path == nullptr ? "" : path);
  if (!file) return false;
  gpus.clear();
  for (std::string line; std::getline(file, line);) {
    Gpu gpu;
    std::istringstream(line) >> gpu.uuid >> gpu.percent >> gpu.used >>
        gpu.total >> gpu.milliwatts >> gpu.celsius;
    gpus.push_back(gpu);
  }
  return true;
}

const Gpu& At(void* device) { return *static_cast<const Gpu*>(device); }

}  // namespace

extern "C" {

int nvmlInit_v2() { return ReadAll() ? kSuccess : kNotFound; }

int nvmlShutdown() { return kSuccess; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  if (!ReadAll()) return kNotFound;
  *count = static_cast<unsigned>(gpus.size());
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= gpus.size() || gpus[index].uuid == "lost") return kNotFound;
  *device = &gpus[index];
  return kSuccess;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned size) {
  std::snprintf(uuid, size, "%s", At(device).uuid.c_str());
  return kSuccess;
}

int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  rates[0] = At(device).percent;
  rates[1] = 0;
  return kSuccess;
}

int nvmlDeviceGetMemoryInfo(void* device, std::uint64_t* bytes) {
  bytes[0] = At(device).total;
  bytes[1] = At(device).total - At(device).used;
  bytes[2] = At(device).used;
  return kSuccess;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = At(device).milliwatts;
  return kSuccess;
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  if (sensor != 0) return kNotFound;
  *celsius = At(device).celsius;
  return kSuccess;
}

}  // extern "C"
