// SPDX-License-Identifier: Apache-2.0
//
// File: pruner_world.h
//
// Histories in a line each, and pruners to judge them.
#ifndef FROSTLINE_TESTS_SAMPLER_PRUNER_PRUNER_WORLD_H_
#define FROSTLINE_TESTS_SAMPLER_PRUNER_PRUNER_WORLD_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sampler/pruner/pruner.h"
#include "sampler/sampler.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline const std::vector<Objective> kAccuracy = {{"acc", Direction::kMaximize}};

// The whole trial in one change: values at steps 0, 1, 2, …
inline void Put(History& history, std::int64_t number, TrialState state,
                const std::vector<double>& values,
                std::vector<double> result = {}) {
  Observation trial;
  trial.number = number;
  trial.state = state;
  trial.values = std::move(result);
  for (std::size_t s = 0; s < values.size(); ++s) {
    trial.intermediate.push_back({static_cast<std::int64_t>(s), values[s]});
  }
  history.Put(trial);
}

// One more report of a trial that runs.
inline void Report(History& history, std::int64_t number, std::int64_t step,
                   double value) {
  Observation trial;
  trial.number = number;
  if (history.Find(number) != nullptr) trial = *history.Find(number);
  trial.state = TrialState::kRunning;
  trial.intermediate.push_back({step, value});
  history.Put(std::move(trial));
}

inline void End(History& history, std::int64_t number, TrialState state) {
  Observation trial = *history.Find(number);
  trial.state = state;
  history.Put(std::move(trial));
}

// Five trials that succeeded with 1, 2, 3, 4, 5 at every step.
inline History FiveTrials() {
  History history;
  for (int i = 0; i < 5; ++i) {
    const double value = i + 1.0;
    Put(history, i, TrialState::kSucceeded, {value, value, value, value},
        {value});
  }
  return history;
}

inline std::unique_ptr<Pruner> Made(
    const std::string& name, const Options& options,
    const std::vector<Objective>& objectives = kLoss) {
  auto pruner = MakePruner({.name = name, .options = options}, objectives);
  EXPECT_OK(pruner);
  return *std::move(pruner);
}

// The options without which a pruner cannot be made.
inline Options LeastOptions(const std::string& pruner) {
  return pruner == "threshold" ? Options{{"upper", "2"}} : Options{};
}

}  // namespace frostline::sampler

#endif  // FROSTLINE_TESTS_SAMPLER_PRUNER_PRUNER_WORLD_H_
