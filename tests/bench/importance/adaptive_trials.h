// SPDX-License-Identifier: Apache-2.0
//
// File: adaptive_trials.h
//
// Truths that are known, and trials of them that samplers chose.
#ifndef FROSTLINE_TESTS_BENCH_IMPORTANCE_ADAPTIVE_TRIALS_H_
#define FROSTLINE_TESTS_BENCH_IMPORTANCE_ADAPTIVE_TRIALS_H_

#include <string>
#include <vector>

#include "study/history.h"
#include "study/space.h"
#include "tests/bench/importance/truth_trials.h"

namespace frostline::bench {

struct AdaptiveCase {
  std::string name;
  std::string kind;  // "additive", "inter", "cliff"
  Space space;
  PointTarget target;
  double noise = kTruthNoise;
  std::vector<double> shares;  // main, of the whole variance
};

// Those with 7 modules, and cliffs. Keeps references to the truths.
std::vector<AdaptiveCase> AdaptiveCases(const std::vector<test::Truth>& truths,
                                        const std::string& kind);

// "uniform", a sampler's name, or "tpe-random": tpe, the last third at random.
// Throws std::runtime_error.
History AdaptiveTrials(const AdaptiveCase& one, const std::string& sort,
                       int trials, int seed);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_IMPORTANCE_ADAPTIVE_TRIALS_H_
