// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/cpu_info.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
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

}  // namespace frostline::trainer
