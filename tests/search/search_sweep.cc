// SPDX-License-Identifier: Apache-2.0
#include "tests/search/search_sweep.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace frostline::test {

Sweep RunSweep(const SearchObjective& objective, const SearchSetup& setup,
               int seeds) {
  std::vector<std::vector<double>> runs(static_cast<std::size_t>(seeds));
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t seed = next++; seed < runs.size(); seed = next++) {
      SearchSetup one = setup;
      one.trials = 200;
      one.seed = seed;
      runs[seed] = RunSearch(objective, one);
    }
  };
  std::vector<std::thread> threads;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < cores; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  Sweep sweep;
  for (const int trials : {50, 100, 200}) {
    for (const std::vector<double>& best : runs) {
      sweep[trials].push_back(best[static_cast<std::size_t>(trials - 1)]);
    }
  }
  return sweep;
}

}  // namespace frostline::test
