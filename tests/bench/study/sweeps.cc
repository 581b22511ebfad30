// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/study/sweeps.h"

#include <array>
#include <functional>

#include "base/rng.h"

namespace frostline::bench {
namespace {

constexpr double kRate = 3e-4;
constexpr double kNewRate = 1e-3;  // of what is new to the task
constexpr std::array kRates = {1e-4, 3e-4, 1e-3};

using RateOfLayer = std::function<double()>;

SweepTrial TrialOf(int layers, int depth, int seed, const RateOfLayer& rate) {
  SweepTrial trial = {.depth = depth, .seed = seed, .rates = {}};
  trial.rates.emplace_back("embeddings", 0.0);
  for (int i = 0; i < layers; ++i) {
    trial.rates.emplace_back("layer." + std::to_string(i),
                             i < depth ? 0.0 : rate());
  }
  trial.rates.emplace_back("pooler", kNewRate);
  trial.rates.emplace_back("head", kNewRate);
  return trial;
}

}  // namespace

std::vector<SweepTrial> ElsaSweep(int layers, int seeds) {
  std::vector<SweepTrial> trials;
  for (int depth = layers / 2; depth <= layers; ++depth) {
    for (int seed = 1; seed <= seeds; ++seed) {
      trials.push_back(TrialOf(layers, depth, seed, [] { return kRate; }));
    }
  }
  return trials;
}

std::vector<SweepTrial> MixedSweep(int layers, int seeds) {
  Rng rng(20);
  std::vector<SweepTrial> trials;
  for (int depth = 1; depth <= layers; ++depth) {
    for (int seed = 1; seed <= seeds; ++seed) {
      trials.push_back(TrialOf(layers, depth, seed, [&rng] {
        return kRates[rng.Below(kRates.size())];
      }));
    }
  }
  return trials;
}

}  // namespace frostline::bench
