// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/hardware.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

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
      // As CUDA reads it: -1 and its like hide all that follows.
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

}  // namespace frostline::agent
