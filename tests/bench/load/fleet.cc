// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load/fleet.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace frostline::bench {

double Percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0.0;
  const auto at =
      static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

void Figures::Answered(const std::string& method, Duration took) {
  times_[method].push_back(
      std::chrono::duration<double, std::milli>(took).count());
}

std::int64_t Figures::Count(const std::string& method) const {
  const auto found = times_.find(method);
  return found == times_.end()
             ? 0
             : static_cast<std::int64_t>(found->second.size());
}

double Figures::Milliseconds(const std::string& method, double share) const {
  const auto found = times_.find(method);
  if (found == times_.end()) return 0.0;
  std::vector<double> sorted = found->second;
  std::sort(sorted.begin(), sorted.end());
  return Percentile(sorted, share);
}

std::string Figures::Describe(Duration spent) const {
  const double seconds = std::chrono::duration<double>(spent).count();
  const auto rate = [seconds](std::int64_t count) {
    return static_cast<double>(count) / seconds;
  };
  std::string text =
      absl::StrFormat("%.1f s, %d cycles, %.1f cycles/s, %.1f measurements/s\n",
                      seconds, cycles_, rate(cycles_), rate(measurements_));
  absl::StrAppendFormat(&text, "%-10s %9s %9s %9s %9s %9s\n", "method",
                        "answers", "p50 ms", "p90 ms", "p99 ms", "max ms");
  for (const auto& [method, times] : times_) {
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    absl::StrAppendFormat(&text, "%-10s %9d %9.2f %9.2f %9.2f %9.2f\n", method,
                          sorted.size(), Percentile(sorted, 0.5),
                          Percentile(sorted, 0.9), Percentile(sorted, 0.99),
                          sorted.back());
  }
  for (const auto& [id, count] : errors_) {
    absl::StrAppend(&text, "error ", id, ": ", count, "\n");
  }
  return text;
}

}  // namespace frostline::bench
