// SPDX-License-Identifier: Apache-2.0
#include "statistics/paired/resampling.h"

#include <algorithm>
#include <cstdint>

namespace frostline::statistics {
namespace {

constexpr std::size_t kMostScored = 200'000'000;  // examples

}  // namespace

std::size_t DrawsFor(std::size_t runs, std::size_t examples) {
  const std::size_t each = std::max<std::size_t>(runs * examples, 1);
  return std::clamp(kMostScored / each, kFewestDraws, kMostDraws);
}

std::vector<std::vector<double>> ResampledScores(
    const std::vector<const RunScore*>& runs, std::size_t draws, Rng& rng,
    const std::stop_token& stop) {
  std::vector<std::vector<double>> scores(runs.size());
  const std::size_t units = runs.empty() ? 0 : runs[0]->units();
  std::vector<std::uint32_t> times(units);
  for (std::size_t draw = 0; draw < draws && !stop.stop_requested(); ++draw) {
    std::fill(times.begin(), times.end(), 0);
    for (std::size_t i = 0; i < units; ++i) ++times[rng.Below(units)];
    for (std::size_t run = 0; run < runs.size(); ++run) {
      scores[run].push_back(runs[run]->At(times));
    }
  }
  return scores;
}

}  // namespace frostline::statistics
