// SPDX-License-Identifier: Apache-2.0
//
// File: sweeps.h
//
// The points of two studies, the same for every side: how deep the frozen
// prefix is, and the rate of each layer above it.
//
// The first asks how much can be frozen, after Lee, Tang and Lin ("What would
// Elsa do?", 2019): half of the layers to all of them, one rate above. The
// second is a search over all depths, with a rate of its own for each layer.
#ifndef FROSTLINE_TESTS_BENCH_STUDY_SWEEPS_H_
#define FROSTLINE_TESTS_BENCH_STUDY_SWEEPS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace frostline::bench {

struct SweepTrial {
  int depth = 0;
  int seed = 0;
  std::vector<std::pair<std::string, double>> rates;  // 0 is frozen
};

// In the order of depths, every seed at each.
std::vector<SweepTrial> ElsaSweep(int layers, int seeds);
std::vector<SweepTrial> MixedSweep(int layers, int seeds);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STUDY_SWEEPS_H_
