// SPDX-License-Identifier: Apache-2.0
//
// What a coordinator costs before anybody asks it for anything.
#include <algorithm>
#include <vector>

#include "tests/bench/service/service_bench.h"

namespace frostline::bench {

void MeasureStart(ServiceBench& bench) {
  constexpr int kRounds = 5;
  std::vector<double> took;
  double resident_kib = 0.0;
  for (int i = 0; i < kRounds; ++i) {
    const auto coordinator = bench.StartCoordinator();
    took.push_back(
        std::chrono::duration<double, std::milli>(coordinator->start_took())
            .count());
    resident_kib = std::max(resident_kib, coordinator->program().ResidentKib());
  }
  std::sort(took.begin(), took.end());
  bench.Figure("start_ms", Percentile(took, 0.5));
  bench.Figure("idle_mib", resident_kib / 1024);
}

}  // namespace frostline::bench
