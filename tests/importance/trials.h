// SPDX-License-Identifier: Apache-2.0
//
// File: trials.h
//
// Histories of trials drawn uniformly from a space, with a target of one's own.
#ifndef FROSTLINE_TESTS_IMPORTANCE_TRIALS_H_
#define FROSTLINE_TESTS_IMPORTANCE_TRIALS_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "sampler/draw/random.h"
#include "study/history.h"
#include "study/space.h"

namespace frostline::importance {

inline Space LevelSpace(int modules, int levels) {
  Levels rates;
  for (int k = 0; k < levels; ++k) rates.rates.push_back(k * 1e-5);
  std::vector<Parameter> parameters;
  for (int i = 0; i < modules; ++i) {
    parameters.push_back({"layer." + std::to_string(i), rates, {}});
  }
  return Space(parameters, {}, std::nullopt);
}

inline Observation Succeeded(std::int64_t number, Point point, double value) {
  Observation trial;
  trial.number = number;
  trial.state = TrialState::kSucceeded;
  trial.point = std::move(point);
  trial.values = {value};
  return trial;
}

inline History UniformTrials(
    const Space& space, int trials,
    const std::function<double(const Point&, Rng&)>& target,
    std::uint64_t seed = 1) {
  Rng rng(seed);
  History history;
  for (int i = 0; i < trials; ++i) {
    Point point = sampler::DrawPoint(space, sampler::kFrozenShare, rng);
    const double value = target(point, rng);
    history.Put(Succeeded(i, std::move(point), value));
  }
  return history;
}

}  // namespace frostline::importance

#endif  // FROSTLINE_TESTS_IMPORTANCE_TRIALS_H_
