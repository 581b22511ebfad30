// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/process_facts.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace frostline::server {
namespace {

// /proc/self/stat from the state on, which is field 3 of proc(5).
constexpr std::size_t kFirst = 3;
constexpr std::size_t kUserTime = 14 - kFirst;
constexpr std::size_t kSystemTime = 15 - kFirst;
constexpr std::size_t kThreads = 20 - kFirst;
constexpr std::size_t kStarted = 22 - kFirst;   // in ticks since boot
constexpr std::size_t kResident = 24 - kFirst;  // in pages

std::string FactTextOf(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<double> StatFields() {
  const std::string text = FactTextOf("/proc/self/stat");
  const std::size_t name_ends = text.rfind(')');  // it may contain blanks
  if (name_ends == std::string::npos) return {};
  std::istringstream rest(text.substr(name_ends + 1));
  std::string state;
  rest >> state;
  std::vector<double> fields = {0};
  double field = 0;
  while (rest >> field) fields.push_back(field);
  return fields;
}

std::optional<double> BootTime() {
  std::istringstream lines(FactTextOf("/proc/stat"));
  std::string line;
  while (std::getline(lines, line)) {
    double seconds = 0;
    std::string key;
    if (std::istringstream(line) >> key >> seconds && key == "btime") {
      return seconds;
    }
  }
  return std::nullopt;
}

}  // namespace

void WriteProcess(MetricsPage& page) {
  const std::vector<double> fields = StatFields();
  if (fields.size() > kResident) {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    page.Set("process_cpu_seconds_total",
             (fields[kUserTime] + fields[kSystemTime]) / ticks);
    page.Set("process_resident_memory_bytes",
             fields[kResident] * static_cast<double>(sysconf(_SC_PAGESIZE)));
    page.Set("process_threads", fields[kThreads]);
    if (const auto boot = BootTime()) {
      page.Set("process_start_time_seconds", *boot + fields[kStarted] / ticks);
    }
  }
  std::error_code failure;
  const std::filesystem::directory_iterator open("/proc/self/fd", failure);
  if (!failure) {
    page.Set("process_open_fds",
             static_cast<std::int64_t>(
                 std::distance(open, std::filesystem::directory_iterator())));
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    page.Set("process_max_fds", static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace frostline::server
