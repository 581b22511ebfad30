// SPDX-License-Identifier: Apache-2.0
//
// File: tpe_cases.h
//
// Spaces, trials and short searches for the tests of TPE.
#ifndef FROSTLINE_TESTS_SAMPLER_TPE_TPE_CASES_H_
#define FROSTLINE_TESTS_SAMPLER_TPE_TPE_CASES_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sampler/tpe/tpe.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {

// Modules with the levels frozen, 2e-10 … 2e-5.
inline Space SevenLevels(int modules) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < modules; ++i) {
    parameters.push_back({"layer." + std::to_string(i),
                          Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}},
                          {}});
  }
  return Space(parameters, {}, std::nullopt);
}

// Layer i is active where the depth is at most i.
inline Space DepthAndLayers(int layers) {
  std::vector<Parameter> parameters = {
      {"depth", IntRange{0, layers, 1, false}, {}}};
  for (int i = 0; i < layers; ++i) {
    parameters.push_back({"layer." + std::to_string(i), Levels{{0, 2e-6, 2e-5}},
                          Condition{0, {}, 0.0, static_cast<double>(i)}});
  }
  return Space(parameters, {}, std::nullopt);
}

inline Observation InState(TrialState state, std::int64_t number,
                           const Point& point) {
  Observation trial;
  trial.number = number;
  trial.state = state;
  trial.point = point;
  return trial;
}

inline Observation Succeeded(std::int64_t number, const Point& point,
                             double value) {
  Observation trial = InState(TrialState::kSucceeded, number, point);
  trial.values = {value};
  return trial;
}

inline std::unique_ptr<NativeTpe> MakeTpe(
    const Space& space, const Options& options = {},
    std::vector<PriorStudy> priors = {},
    const std::vector<Objective>& objectives = kLoss) {
  const SamplerInput input{.options = options,
                           .space = space,
                           .objectives = objectives,
                           .prior_studies = std::move(priors)};
  auto read = ReadTpeOptions(input);
  EXPECT_OK(read);
  return std::make_unique<NativeTpe>(*read, input);
}

// One trial after the other; `run` tells how each ended.
inline History Search(
    NativeTpe& tpe, int trials, std::uint64_t seed,
    const std::function<Observation(std::int64_t, const Point&)>& run) {
  History history;
  for (std::int64_t number = 0; number < trials; ++number) {
    Rng rng(seed, static_cast<std::uint64_t>(number));
    const auto point = tpe.Propose(history, number, rng);
    EXPECT_OK(point);
    if (!point.ok()) return history;
    history.Put(run(number, *point));
  }
  return history;
}

// Levels by their distance from level 4, all modules adding up.
inline double BowlAtFour(const Point& point) {
  double loss = 0.0;
  for (const double level : point) loss += (level - 4.0) * (level - 4.0);
  return loss;
}

inline Observation RunBowl(std::int64_t number, const Point& point) {
  return Succeeded(number, point, BowlAtFour(point));
}

inline double BestOf(const History& history) {
  double best = std::numeric_limits<double>::infinity();
  for (const Observation& trial : history.trials()) {
    for (const double value : trial.values) best = std::min(best, value);
  }
  return best;
}

inline std::size_t CountDistinct(const History& history) {
  std::set<std::uint64_t> points;
  for (const Observation& trial : history.trials()) {
    points.insert(HashPoint(trial.point));
  }
  return points.size();
}

}  // namespace frostline::sampler

#endif  // FROSTLINE_TESTS_SAMPLER_TPE_TPE_CASES_H_
